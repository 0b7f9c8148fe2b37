/** The route that the page shows now, and the functions that change it. */
import { routeOf, type Route } from './addresses.ts';
import { Cell, useCell } from './state/cell.ts';

export { numberIn, TABS, to, type Find, type Query, type Route, type Tab } from './addresses.ts';

const current = new Cell<Route>(routeOf(window.location.hash));
window.addEventListener('hashchange', () => current.set(routeOf(window.location.hash)));

export const useRoute = (): Route => useCell(current);
export const go = (address: string): void => {
  window.location.hash = address;
};
/** Changes the URL without a history entry, for filters and the side panel. */
export const change = (address: string): void => {
  window.history.replaceState(null, '', address);
  current.set(routeOf(address));
};
