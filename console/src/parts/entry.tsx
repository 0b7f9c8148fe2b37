/** Lines of the timeline that are not notifications. */
import type { ReactElement } from 'react';
import type { Json } from '../../../src/core/json.ts';
import { span } from '../state/clock.ts';
import type { Entry } from '../state/timeline.ts';
import { Icon } from './icons.tsx';
import { Folded } from './said.tsx';
import { Clock } from './time.tsx';

type Plain = Exclude<Entry, { kind: 'ride' | 'ended' }>;

/**
 * Shows one line. `onFork` opens the dialog that forks the conversation after the turn that begins here. `onFork` is missing for
 * the running turn, and if another host runs the conversation, because only Earpiece's own agent can fork.
 */
export function TimelineEntry({
  entry,
  onFork,
}: {
  readonly entry: Plain;
  readonly onFork?: ((at: number) => void) | undefined;
}): ReactElement {
  switch (entry.kind) {
    case 'person':
      return (
        <Row entry={entry} who={entry.who}>
          <Folded text={entry.text} speech />
          {onFork !== undefined && (
            <button type="button" className="quiet small fork-here" onClick={() => onFork(entry.seq)}>
              <Icon name="fork" />
              Fork after this turn
            </button>
          )}
        </Row>
      );
    case 'agent':
      return (
        <Row entry={entry} who="agent">
          {entry.text !== '' && <Folded text={entry.text} speech />}
          {entry.data !== undefined && <pre className="sent">{JSON.stringify(entry.data, null, 2)}</pre>}
          {entry.truncated && <p className="mark">the answer was interrupted and ends here</p>}
        </Row>
      );
    case 'system':
      return (
        <Row entry={entry} who="system">
          <p className="words muted">{entry.text}</p>
        </Row>
      );
    case 'thought':
      return (
        <Row entry={entry} who="agent">
          <details className="thought">
            <summary>thought</summary>
            <p className="words muted">{entry.text}</p>
          </details>
        </Row>
      );
    case 'tool':
      return <Tool entry={entry} />;
    case 'refused':
      return (
        <Row entry={entry} who="gate">
          <p className="mark refused">
            {entry.made ? 'withheld the result of ' : 'refused '}
            <code>{entry.on}</code>
            {entry.paused ? ': the agent is paused' : ': an interrupt is unread'}
          </p>
        </Row>
      );
    case 'mark':
      return (
        <Row entry={entry} who="">
          <p className="mark words">{entry.text}</p>
        </Row>
      );
    case 'record':
      return (
        <Row entry={entry} who="log">
          <details className="raw">
            <summary>
              <code>{entry.type}</code>
              <span className="muted">{` #${entry.seq}`}</span>
            </summary>
            <pre className="sent">{JSON.stringify(entry.body, null, 2)}</pre>
          </details>
        </Row>
      );
    default:
      return entry satisfies never;
  }
}

const Row = ({
  entry,
  who,
  children,
}: {
  readonly entry: Plain;
  readonly who: string;
  readonly children: React.ReactNode;
}): ReactElement => (
  <div className={`entry entry-${entry.kind}`} data-entry={`${entry.seq} ${entry.kind}`}>
    <Clock at={entry.at} />
    <span className="who">{who}</span>
    <div className="what">{children}</div>
  </div>
);

function Tool({ entry }: { readonly entry: Extract<Plain, { kind: 'tool' }> }): ReactElement {
  const { result } = entry;
  return (
    <div className={`entry entry-tool ${result?.isError ? 'failed' : ''}`} data-entry={`${entry.seq} ${entry.kind}`}>
      <Clock at={entry.at} />
      <span className="who">
        <Icon name="tool" />
        <span className="hidden-text">tool</span>
      </span>
      <div className="what">
        <details>
          <summary>
            <b className="tool-name">{entry.name}</b> <span className="args">{brief(entry.args)}</span>
            <span className="took">
              {result === undefined
                ? 'running'
                : result.isError
                  ? `failed after ${span(result.at - entry.at)}`
                  : span(result.at - entry.at)}
            </span>
          </summary>
          <pre className="sent" tabIndex={0} aria-label="arguments">
            {JSON.stringify(entry.args, null, 2)}
          </pre>
          {result !== undefined && <Folded text={result.content} pre />}
        </details>
      </div>
    </div>
  );
}

/** Formats a call's arguments on one line. A single text argument is shown without its name. */
function brief(args: Json): string {
  if (args === null || typeof args !== 'object') return args === null ? '' : String(args);
  const values = Object.values(args);
  const text = values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(args);
  const line = text.replaceAll(/\s+/gu, ' ');
  if (line === '{}') return '';
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
}
