import type { ReactElement } from 'react';
import type { Counts } from '../types.ts';
import { GRAVEST, totalOf } from '../words.ts';
import { LevelShape } from './icons.tsx';

/** How many are open, by level, the gravest first. */
export function OpenCounts({ open, brief = false }: { readonly open: Counts; readonly brief?: boolean }): ReactElement {
  const total = totalOf(open);
  if (total === 0) return brief ? <></> : <span className="none">nothing open</span>;
  const shown = GRAVEST.filter((level) => open[level] > 0);
  return (
    <span className="counts">
      <span className="hidden-text">{`open: ${shown.map((level) => `${open[level]} ${level}`).join(', ')}`}</span>
      {shown.map((level) => (
        <span key={level} className={`count count-${level}`} aria-hidden="true">
          <LevelShape level={level} silent />
          {open[level] > 999 ? '999+' : open[level]}
        </span>
      ))}
    </span>
  );
}
