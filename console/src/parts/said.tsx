/** Shows a text from an agent, a producer or a person. The page never interprets such a text as HTML. */
import { useId, useMemo, useState, type ReactElement } from 'react';
import type { Json } from '../../../src/core/json.ts';
import { firstOf, firstOfSpeech, mostOf, saidIn, tableOf, visible, visibleOrEmpty } from '../state/text.ts';
import { Copy } from './copy.tsx';

/** Shows a text: a long text is collapsed, and TOON is shown as tables, lists and fields. */
export function SaidText({
  text,
  templated,
  keep,
}: {
  readonly text: string;
  readonly templated: boolean;
  readonly keep?: string;
}): ReactElement {
  const kept = keep === undefined ? {} : { keep };
  const said = saidIn(text, templated);
  switch (said.kind) {
    case 'plain':
      // The line breaks of a template are kept.
      return <Folded {...kept} text={said.text} pre={templated && said.text.includes('\n')} />;
    case 'toon':
      return <Folded {...kept} text={said.text} whole={<Toon value={said.value} />} />;
    default:
      return said satisfies never;
  }
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

export function Toon({ value }: { readonly value: Json }): ReactElement {
  const table = tableOf(value);
  if (table !== null)
    return (
      <div className="scroll-x" tabIndex={0} role="group" aria-label="table">
        <table className="toon">
          <thead>
            <tr>
              {table.columns.map((column) => (
                <th key={column} scope="col">
                  {visible(column)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, at) => (
              <tr key={at}>
                {table.columns.map((column) => (
                  <td key={column}>{plain(row[column] ?? null)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    );
  if (Array.isArray(value))
    return (
      <ul className="toon-list">
        {(value as readonly Json[]).map((each, at) => (
          <li key={at}>
            <Toon value={each} />
          </li>
        ))}
      </ul>
    );
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    return (
      <dl className="toon-fields">
        {entries.map(([key, each]) => (
          <div key={key}>
            <dt>{visible(key)}</dt>
            <dd>
              <Toon value={each} />
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  return <span className="words">{plain(value)}</span>;
}

const plain = (value: Json): string =>
  value === null ? '' : typeof value === 'object' ? visible(JSON.stringify(value)) : visible(String(value));
