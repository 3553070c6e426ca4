import { byId, setText } from "./dom.ts";

type Theme = "light" | "dark";

const storageKey = "touchstone.theme";

/** Storage may be forbidden; the page then forgets, and works. */
export const remembered = (key: string): string | undefined => {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
};

export const remember = (key: string, value: string): void => {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing is lost but the memory of a choice.
  }
};

/** Light or dark as the system says, until the reader chooses. */
export const startTheme = (): void => {
  const button = byId("theme", HTMLButtonElement);
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = remembered(storageKey);
  let chosen: Theme | undefined = stored === "light" || stored === "dark" ? stored : undefined;

  const current = (): Theme => chosen ?? (system.matches ? "dark" : "light");

  const apply = (): void => {
    document.documentElement.dataset["theme"] = current();
    setText(button, current() === "dark" ? "Light" : "Dark");
    button.setAttribute("aria-label", `Change to ${current() === "dark" ? "light" : "dark"} colours`);
  };

  button.addEventListener("click", () => {
    chosen = current() === "dark" ? "light" : "dark";
    remember(storageKey, chosen);
    apply();
  });
  system.addEventListener("change", apply);
  apply();
};
