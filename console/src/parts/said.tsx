/** Shows a text from an agent, a producer or a person. The page never interprets such a text as HTML. */
import { useId, useMemo, useState, type ReactElement } from 'react';
import { firstOf, firstOfSpeech, mostOf, tableIn, visible, visibleOrEmpty, type Table } from '../state/text.ts';
import { Copy } from './copy.tsx';

/** Shows a text exactly as the model read it, but a TOON table as a table. A long text is collapsed. `pre`: see `Folded`. */
export function SentText({
  text,
  pre,
  keep,
}: {
  readonly text: string;
  readonly pre: boolean;
  readonly keep: string;
}): ReactElement {
  const table = useMemo(() => tableIn(text), [text]);
  if (table === null) return <Folded keep={keep} text={text} pre={pre} />;
  return <Folded keep={keep} text={text} whole={<Rows of={table} />} />;
}

/**
 * Collapses a long text. `whole` renders the text that is not collapsed. `pre` keeps spaces and line breaks. `speech` marks a
 * message, which may be longer before it is collapsed. `keep` is a name: a text that a person has opened stays open under this
 * name, even if it is rendered elsewhere.
 */
export function Folded({
  text,
  whole,
  pre = false,
  speech = false,
  keep,
}: {
  readonly text: string;
  readonly whole?: ReactElement;
  readonly pre?: boolean;
  readonly speech?: boolean;
  readonly keep?: string;
}): ReactElement {
  const [open, setOpen] = useState(keep !== undefined && opened.has(keep));
  const turn = (): void => {
    if (keep !== undefined) opened[open ? 'delete' : 'add'](keep);
    setOpen(!open);
  };
  const id = useId();
  const first = useMemo(() => {
    const start = speech ? firstOfSpeech(text) : firstOf(text);
    return start === null ? null : visibleOrEmpty(start);
  }, [text, speech]);
  const all = whole ?? <Whole text={text} pre={pre} />;
  if (first === null) return all;
  return (
    <div className="folded">
      <div id={id}>{open ? all : <span className="words">{first}</span>}</div>
      <button type="button" className="quiet small" aria-expanded={open} aria-controls={id} onClick={turn}>
        {open ? 'Show less' : 'Show more'}
      </button>
    </div>
  );
}

/** The names of the opened texts. */
const opened = new Set<string>();

/** Shows as much of the text as a browser can lay out quickly. If the text is longer, a button copies the whole text. */
function Whole({ text, pre }: { readonly text: string; readonly pre: boolean }): ReactElement {
  const most = mostOf(text);
  const shown = visibleOrEmpty(most);
  return (
    <>
      {pre ? <pre className="sent">{shown}</pre> : <span className="words">{shown}</span>}
      {most.length < text.length && (
        <p className="muted">
          {`the first ${most.length.toLocaleString('en')} of ${text.length.toLocaleString('en')} characters `}
          <Copy text={text} label="copy all" what="of the text" />
        </p>
      )}
    </>
  );
}

const Rows = ({ of: { name, columns, rows } }: { readonly of: Table }): ReactElement => (
  <div className="scroll-x" tabIndex={0} role="group" aria-label="table">
    <table className="toon">
      {name !== '' && <caption>{visible(name)}</caption>}
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {visible(column)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {columns.map((column) => (
              <td key={column}>{visible(String(row[column] ?? ''))}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
