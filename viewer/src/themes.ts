// The colours of the picture, for a light page and a dark one.
export const PALETTE = ["#e0803c", "#4f8fd0", "#5fa968", "#c65b66", "#8d78c9", "#d9b13b", "#4bb0ae", "#c97bb0", "#8c9a3e", "#7f8ea3"];
export const THEMES = {
  light: { background: "#eef1f4", floor: "#dfe4e9", grid: "#b9c3cd", fixed: "#aab4bf", edge: "#1d2833", edgeOpacity: 0.75, patch: "#ffffff", sky: "#ffffff", ground: "#b8c0c8" },
  dark: { background: "#171d24", floor: "#20272f", grid: "#38434f", fixed: "#6d7b8a", edge: "#05080b", edgeOpacity: 0.85, patch: "#d7f5ff", sky: "#c9d8ea", ground: "#49525e" },
};
export type ThemeName = keyof typeof THEMES;
