import { pictureScript } from "./script-pictures.ts";

/**
 * What scripts add to the page: choice of theme, filters, copying. Inserted verbatim; the page's content security
 * policy names it by its hash. It contains nothing from a run.
 */
export const script = String.raw`
"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

const theme = document.querySelector(".theme");
const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const showTheme = () => { const other = isDark() ? "Light" : "Dark"; theme.textContent = other; theme.setAttribute("aria-label", "Change to " + other.toLowerCase() + " colours"); };
const stored = (value) => {
  try {
    if (value === undefined) return localStorage.getItem("touchstone-theme");
    localStorage.setItem("touchstone-theme", value);
  } catch { /* a page from disk may be without a store */ }
  return null;
};
const chosen = stored();
if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
theme.hidden = false;
theme.addEventListener("click", () => {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  stored(next);
  showTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
showTheme();

for (const button of all(".copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.previousElementSibling);
      button.textContent = "Selected";
    }
  });
  button.addEventListener("blur", () => { button.textContent = "Copy"; });
}

for (const bar of all(".filters")) {
  const section = bar.parentElement;
  const rules = all("details.rule", section).map((rule) => ({ rule, text: rule.querySelector("summary").textContent.toLowerCase() }));
  const find = bar.querySelector(".find");
  const found = bar.querySelector(".found");
  const unfold = bar.querySelector(".unfold");
  const kinds = all(".kind", bar);
  const visible = () => rules.filter(({ rule }) => !rule.hidden);
  const apply = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const asked = new Set(kinds.filter((one) => one.getAttribute("aria-pressed") === "true").map((one) => one.dataset.kind));
    for (const { rule, text } of rules)
      rule.hidden = !(words.every((word) => text.includes(word)) && (asked.size === 0 || asked.has(rule.dataset.kind)));
    for (const group of all(".rule-group", section)) group.hidden = all("details.rule", group).every((rule) => rule.hidden);
    const count = visible().length;
    found.textContent = count === rules.length ? "" : count + " of " + rules.length + " rules";
  };
  bar.hidden = false;
  find.addEventListener("input", apply);
  for (const one of kinds)
    one.addEventListener("click", () => {
      one.setAttribute("aria-pressed", String(one.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  unfold.addEventListener("click", () => {
    const open = visible().some(({ rule }) => !rule.open);
    for (const { rule } of visible()) rule.open = open;
    unfold.textContent = open ? "Collapse all" : "Expand all";
  });
}

for (const rule of all("details.rule"))
  rule.addEventListener("toggle", () => {
    // The address can be shared: it leads to what was unfolded last.
    if (rule.open && rule.id !== "") history.replaceState(null, "", "#" + encodeURIComponent(rule.id));
  });

${pictureScript}
const unfoldTarget = () => {
  const address = decodeURIComponent(location.hash.slice(1));
  const target = document.getElementById(address);
  if (showMoment(address) || target === null) return;
  target.hidden = false;
  const group = target.closest(".rule-group");
  if (group !== null) group.hidden = false;
  for (let around = target.parentElement; around !== null; around = around.parentElement) if (around.tagName === "DETAILS") around.open = true;
  if (target.tagName === "DETAILS") {
    target.open = true;
    target.querySelector("summary").focus({ preventScroll: true });
  }
  target.scrollIntoView();
};
addEventListener("hashchange", unfoldTarget);
if (location.hash !== "") unfoldTarget();
`;
