import type { ReactElement } from 'react';
import type { Counts } from '../types.ts';
import { GRAVEST, totalOf } from '../words.ts';
import { LevelShape } from './icons.tsx';

/**
 * Shows the numbers of open notifications by level, the most severe level first. `brief` shows only the two most severe levels,
 * for narrow places.
 */
export function OpenCounts({ open, brief = false }: { readonly open: Counts; readonly brief?: boolean }): ReactElement {
  const total = totalOf(open);
  if (total === 0) return brief ? <></> : <span className="none">nothing open</span>;
  const all = GRAVEST.filter((level) => open[level] > 0);
  const shown = brief ? all.slice(0, 2) : all;
  const most = brief ? 99 : 999;
  return (
    <span className="counts">
      <span className="hidden-text">{`open: ${all.map((level) => `${open[level]} ${level}`).join(', ')}`}</span>
      {shown.map((level) => (
        <span key={level} className={`count count-${level}`} aria-hidden="true">
          <LevelShape level={level} silent />
          {open[level] > most ? `${most}+` : open[level]}
        </span>
      ))}
    </span>
  );
}
