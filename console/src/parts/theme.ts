/** The theme, light or dark: the system's theme, unless the person has chosen a theme. */
import { Cell } from '../state/cell.ts';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'theme';

const kept = localStorage.getItem(KEY);
export const theme = new Cell<Theme>(kept === 'light' || kept === 'dark' ? kept : 'system');

export function setTheme(to: Theme): void {
  if (to === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, to);
  theme.set(to);
}

const show = (): void => {
  document.documentElement.dataset['theme'] = theme.value;
};
show();
theme.watch(show);
