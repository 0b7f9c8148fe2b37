/**
 * Handles keys. A key only moves the focus or presses a control of the page, so each action is also possible with a click.
 */
import { useEffect } from 'react';

type Keys = { readonly onPalette: () => void; readonly onHelp: () => void; readonly onEscape: () => void };

export function useKeys({ onPalette, onHelp, onEscape }: Keys): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        onPalette();
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || document.querySelector('dialog[open]') !== null) return;
      const target = event.target instanceof HTMLElement ? event.target : null;
      const typing = target !== null && target.closest('input, textarea, select, [contenteditable]') !== null;
      if (event.key === 'Escape') {
        if (typing) target.blur();
        else onEscape();
        return;
      }
      if (typing) return;
      const done = act(event.key, onHelp);
      if (done) event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [onPalette, onHelp, onEscape]);
}

let keyed = false;
/** Runs an action and records that a key started it: a panel takes the focus only if a key opened it. */
const byKey = (act: () => boolean): boolean => (keyed = act());
/** Whether a key opened the panel. Returns true only once for each key press. */
export function openedByKey(): boolean {
  const was = keyed;
  keyed = false;
  return was;
}

function act(key: string, onHelp: () => void): boolean {
  switch (key) {
    case 'j':
      return move(1);
    case 'k':
      return move(-1);
    case 'w': {
      const inside = document.activeElement?.closest('aside.why');
      return click(inside?.querySelector('.close')) || byKey(() => click(chosenNote()?.querySelector('.why-button')));
    }
    case 'Enter':
      // On a link or a button, the browser already handles Enter.
      return (
        document.activeElement?.matches('[data-row]:not(a, button)') === true &&
        byKey(() => click(document.activeElement?.querySelector('.why-button, [data-deed=edit]')))
      );
    case 'm':
      return focus(document.querySelector<HTMLElement>('#say'));
    case 'p':
      return click(document.querySelector('[data-deed=pause]'));
    case 's':
      return click(document.querySelector('[data-deed=stop]'));
    case '/':
      return (
        focus(document.querySelector<HTMLElement>('main input[type=search]')) || click(document.querySelector('[data-deed=find]'))
      );
    case '?':
      onHelp();
      return true;
    default:
      return false;
  }
}

const rows = (): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>('main [data-row]')].filter((row) => row.offsetParent !== null);

/**
 * Moves the focus to the next or previous row. If no row has the focus, the focus moves to the first row, or in a conversation to
 * the newest row.
 */
function move(by: 1 | -1): boolean {
  const all = rows();
  const at = all.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next = at < 0 ? (all[0]?.matches('article') ? all.length - 1 : 0) : Math.max(0, Math.min(all.length - 1, at + by));
  return focus(all[next]);
}

function chosenNote(): Element | null {
  const focused = document.activeElement?.closest('article[data-note]');
  return focused ?? [...document.querySelectorAll('article[data-note]:has(.why-button)')].at(-1) ?? null;
}

function focus(element: HTMLElement | null | undefined): boolean {
  if (!element) return false;
  element.focus();
  element.scrollIntoView({ block: 'nearest' });
  return true;
}

function click(element: Element | null | undefined): boolean {
  if (!(element instanceof HTMLElement)) return false;
  element.click();
  return true;
}
