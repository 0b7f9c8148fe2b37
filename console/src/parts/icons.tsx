/** Small drawings. Text next to each drawing, or hidden text for a screen reader, names the meaning of the drawing. */
import type { ReactElement } from 'react';
import type { Level } from '../types.ts';

const SHAPES: Readonly<Record<Level, ReactElement>> = {
  info: <circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" strokeWidth="1.5" />,
  warning: <path d="M6 1.8 11 10.6 1 10.6Z" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinejoin="round" />,
  error: <path d="M6 1.4 11.3 10.9 .7 10.9Z" fill="currentColor" />,
  critical: <rect x="1.3" y="1.3" width="9.4" height="9.4" rx="1" fill="currentColor" />,
};

/** Shows a level by shape (○ △ ▲ ■) and word, and not only by colour. */
export function LevelShape({ level, silent = false }: { readonly level: Level; readonly silent?: boolean }): ReactElement {
  return (
    <svg
      className={`shape shape-${level}`}
      viewBox="0 0 12 12"
      width="12"
      height="12"
      {...(silent ? { 'aria-hidden': true } : { role: 'img', 'aria-label': level })}
    >
      {SHAPES[level]}
    </svg>
  );
}

const PATHS = {
  agents: 'M3 4.5h10M3 8h10M3 11.5h6',
  activity: 'M2.5 12.5V8M6 12.5V3.5M9.5 12.5V6.5M13 12.5V9.5',
  tasks: 'M2.5 4.5 4 6l2.5-3M2.5 10.5 4 12l2.5-3M9 5h4.5M9 11h4.5',
  settings: 'M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M10 3.2v3.6M6 9.2v3.6',
  tool: 'M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4ZM8 2v1.7M8 12.3V14M2 8h1.7M12.3 8H14M3.8 3.8 5 5M11 11l1.2 1.2M3.8 12.2 5 11M11 5l1.2-1.2',
  lock: 'M4 7.5h8v5.5H4zM5.7 7.5V5.4a2.3 2.3 0 0 1 4.6 0v2.1',
  copy: 'M5.5 5.5h7v7h-7zM3.5 10.5v-7h7',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  close: 'M4 4l8 8M12 4l-8 8',
  chevron: 'M5.5 3.5 10 8l-4.5 4.5',
  bell: 'M4 11h8l-1-1.5V7a3 3 0 0 0-6 0v2.5ZM7 13h2',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.5 12 8l-7 4.5Z',
  stop: 'M4.5 4.5h7v7h-7z',
  send: 'M2.5 8 13 3.5 10 13 7.5 9Z',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5l3 3',
  fork: 'M5 6.2v3.6M5 6.2a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2ZM5 13a1.6 1.6 0 1 0 0-3.2A1.6 1.6 0 0 0 5 13ZM11 6.2a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2ZM11 6.2c0 2.6-6 1.2-6 3.6',
  find: 'M2.5 4h11M2.5 7.5H6M2.5 11H6M10.4 12.4a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4ZM12.4 11.8l1.9 1.9',
  help: 'M6 6.2a2 2 0 1 1 2.8 1.9c-.5.3-.8.6-.8 1.4M8 12.3v.1',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { readonly name: IconName }): ReactElement => (
  <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={PATHS[name]} fill="none" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" strokeLinejoin="round" />
  </svg>
);

/** Shows the agent's state by shape. */
export function StateDot({ state }: { readonly state: 'busy' | 'ready' | 'held' | 'paused' | 'away' }): ReactElement {
  return (
    <svg className={`dot dot-${state}`} viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
      <circle cx="5" cy="5" r="3.8" fill={state === 'busy' ? 'currentColor' : 'none'} stroke="currentColor" strokeWidth="1.4" />
      {state === 'paused' && <path d="M5 1.2a3.8 3.8 0 0 1 0 7.6Z" fill="currentColor" />}
      {state === 'held' && <path d="M2.4 5h5.2" stroke="currentColor" strokeWidth="1.6" />}
      {state === 'ready' && <circle cx="5" cy="5" r="1.5" fill="currentColor" />}
    </svg>
  );
}
