/**
 * A live record may move a row, or remove the focused control. Then the focus stays with the row: on the same control if the
 * row still has it, else on the row itself. A person at the keyboard continues from there.
 */
import { useEffect, useLayoutEffect, useRef, type RefObject } from 'react';

/** `name`: of the data attribute that names rows. An element without the focus does not change. */
export function useFocusStays(within: RefObject<HTMLElement | null>, name: 'task' | 'note'): void {
  const had = useRef<{ readonly element: HTMLElement; readonly row: string } | null>(null);
  useEffect(() => {
    const come = ({ target }: FocusEvent): void => {
      if (!(target instanceof HTMLElement)) return;
      const row = within.current?.contains(target) === true ? target.closest<HTMLElement>(`[data-${name}]`) : null;
      had.current = row === null ? null : { element: target, row: row.dataset[name] ?? '' };
    };
    const gone = ({ target }: FocusEvent): void => {
      // Some browsers also fire this event for an element that is being removed; by now it has been removed.
      queueMicrotask(() => {
        if (had.current?.element === target && target instanceof Node && target.isConnected) had.current = null;
      });
    };
    document.addEventListener('focusin', come);
    document.addEventListener('focusout', gone);
    return () => {
      document.removeEventListener('focusin', come);
      document.removeEventListener('focusout', gone);
    };
  }, [within, name]);
  useLayoutEffect(() => {
    const { current } = had;
    if (current === null || current.element.isConnected) return;
    had.current = null;
    if (document.activeElement !== document.body) return;
    const row = within.current?.querySelector<HTMLElement>(`[data-${name}="${CSS.escape(current.row)}"]`);
    const says = saysOf(current.element);
    const same = [...(row?.querySelectorAll<HTMLElement>('button, a, select, input, textarea, summary') ?? [])].find(
      (each) => saysOf(each) === says,
    );
    (same ?? row)?.focus({ preventScroll: true });
  });
}

const saysOf = (element: HTMLElement): string =>
  `${element.tagName} ${element.getAttribute('aria-label') ?? element.textContent.trim()}`;
