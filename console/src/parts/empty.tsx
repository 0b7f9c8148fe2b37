import type { ReactElement, ReactNode } from 'react';

/** The text for an empty list: the reason, and the next step. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }): ReactElement => (
  <section className="empty">
    <h2>{title}</h2>
    {children}
  </section>
);

export const Problem = ({ text, again }: { readonly text: string; readonly again?: () => void }): ReactElement => (
  <div className="problem" role="alert">
    <span className="words">{text}</span>
    {again && (
      <button type="button" className="small" onClick={again}>
        Try again
      </button>
    )}
  </div>
);

export const Skeleton = ({ rows, label }: { readonly rows: number; readonly label: string }): ReactElement => (
  <div className="skeleton" role="status" aria-label={label}>
    {Array.from({ length: rows }, (_, row) => (
      <div key={row} />
    ))}
  </div>
);
