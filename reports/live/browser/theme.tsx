import { useEffect, useState } from "preact/hooks";

const storageKey = "touchstone-theme";

/** Storage may be forbidden; the page then forgets, and works. The report looks at the same key. */
const stored = (value?: string): string | null => {
  try {
    if (value !== undefined) localStorage.setItem(storageKey, value);
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
};

/** Light or dark as the system says, until the reader chooses. */
export const ThemeButton = () => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const [isDark, setDark] = useState(system.matches);
  const [chosen, choose] = useState(stored());
  useEffect(() => {
    system.addEventListener("change", ({ matches }) => setDark(matches));
  }, []);
  const theme = chosen === "dark" || chosen === "light" ? chosen : isDark ? "dark" : "light";
  const other = theme === "dark" ? "light" : "dark";
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
  }, [theme]);
  return (
    <button
      type="button"
      id="theme"
      aria-label={`Change to ${other} colours`}
      onClick={() => choose(stored(other) ?? other)}
    >
      {other === "dark" ? "Dark" : "Light"}
    </button>
  );
};
