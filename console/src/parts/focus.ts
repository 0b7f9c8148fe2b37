/**
 * Keeps the keyboard focus when a live record moves a row or removes the focused control. The focus stays on the same control, or
 * on the row if the control no longer exists.
 */
import { useEffect, useLayoutEffect, useRef, type RefObject } from 'react';

/** Keeps the focus in its row. `name` is the name of the data attribute that identifies rows. */
export function useFocusStays(within: RefObject<HTMLElement | null>, name: 'task' | 'note'): void {
  const had = useRef<{ readonly element: HTMLElement; readonly row: string } | null>(null);
  useEffect(() => {
    const come = ({ target }: FocusEvent): void => {
      if (!(target instanceof HTMLElement)) return;
      const row = within.current?.contains(target) === true ? target.closest<HTMLElement>(`[data-${name}]`) : null;
      had.current = row === null ? null : { element: target, row: row.dataset[name] ?? '' };
    };
    const gone = ({ target }: FocusEvent): void => {
      // Some browsers also fire this event for an element that is being removed. When the microtask runs, such an element is no
      // longer in the document.
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
