/**
 * Replaces React's function that creates elements, so that every text on the page shows its invisible characters. The values of
 * fields and the URLs of links stay unchanged.
 */
import { Fragment, jsx as make, jsxs as makes } from 'react/jsx-runtime';
import { visible } from '../state/text.ts';

type Props = Readonly<Record<string, unknown>>;
type Make = typeof make;

/** The attributes whose text a person sees or hears. */
const READ = ['title', 'aria-label', 'placeholder'] as const;

const shown = (value: unknown): unknown =>
  typeof value === 'string' ? visible(value) : Array.isArray(value) ? value.map(shown) : value;

function seen(type: unknown, props: Props): Props {
  if (typeof type !== 'string' && type !== Fragment) return props;
  const changed: Record<string, unknown> = { ...props };
  if (typeof props['children'] === 'string' || Array.isArray(props['children'])) changed['children'] = shown(props['children']);
  for (const name of READ) if (typeof props[name] === 'string') changed[name] = visible(props[name]);
  return changed;
}

export const jsx: Make = (type, props, key) => make(type, seen(type, props as Props), key);
export const jsxs: Make = (type, props, key) => makes(type, seen(type, props as Props), key);
export { Fragment };
