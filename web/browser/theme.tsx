import { useEffect, useState } from "preact/hooks";

type Theme = "light" | "dark";

/** Storage may be forbidden; the page then works without memory. */
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
    // Only the choice is lost.
  }
};

const chosenBefore = (storageKey: string): Theme | undefined => {
  const stored = remembered(storageKey);
  return stored === "light" || stored === "dark" ? stored : undefined;
};

/** Light or dark as the system says, until the reader chooses; the browser stores the choice under this key. */
export const ThemeButton = ({ storageKey }: { readonly storageKey: string }) => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const [isDark, setDark] = useState(system.matches);
  const [chosen, choose] = useState(() => chosenBefore(storageKey));
  useEffect(() => {
    system.addEventListener("change", ({ matches }) => setDark(matches));
  }, []);
  const theme = chosen ?? (isDark ? "dark" : "light");
  const other = theme === "dark" ? "light" : "dark";
  document.documentElement.dataset["theme"] = theme;
  const change = (): void => {
    remember(storageKey, other);
    choose(other);
  };
  return (
    <button type="button" id="theme" aria-label={`Change to ${other} colours`} onClick={change}>
      {other === "dark" ? "Dark" : "Light"}
    </button>
  );
};
