/** The head of a conversation: its agent, the agent's state, and the actions for the whole conversation. */
import type { ReactElement } from 'react';
import { Origin } from '../parts/forks.tsx';
import { Icon, StateDot } from '../parts/icons.tsx';
import { Ago } from '../parts/time.tsx';
import { go, to } from '../route.ts';
import { stateOf } from '../state/agents.ts';
import { over } from '../state/over.ts';
import type { AgentSummary, ConversationSummary, ForksReply } from '../types.ts';
import { GUARANTEE, guaranteeLong, hostSays, stateSays } from '../words.ts';

export function Head({
  agent,
  summary,
  log,
  conversation,
  paused,
  everything,
  setEverything,
  forks,
  ours,
  onFork,
  finding,
  onFind,
}: {
  readonly agent: AgentSummary | undefined;
  readonly summary: ConversationSummary | undefined;
  readonly log: string;
  readonly conversation: string;
  readonly paused: boolean;
  readonly everything: boolean;
  readonly setEverything: (all: boolean) => void;
  readonly forks: ForksReply | undefined;
  readonly ours: boolean;
  readonly onFork: () => void;
  readonly finding: boolean;
  readonly onFind: () => void;
}): ReactElement {
  const others = agent?.conversations ?? [];
  const names = others.some((each) => each.conversation === conversation)
    ? others.map((each) => each.conversation)
    : [conversation, ...others.map((each) => each.conversation)];
  // An interrupt of another conversation does not refuse this conversation's calls.
  const held = agent?.held?.conversation === null || agent?.held?.conversation === conversation ? agent.held : null;
  const here = agent && { ...agent, paused, held };
  return (
    <header className="talk-head">
      <a className="quiet back" href={to.agents()} aria-label="Back to agents">
        <Icon name="back" />
      </a>
      <div className="talk-title">
        <h1 title={`${log}#${conversation}`}>
          <span className="words">{log}</span>
          {names.length > 1 ? (
            <select
              aria-label="Conversation"
              value={conversation}
              onChange={(event) => go(to.conversation(log, event.target.value))}
            >
              {names.map((name) => (
                <option key={name} value={name}>{`#${name}`}</option>
              ))}
            </select>
          ) : (
            <span className="muted words">{`#${conversation}`}</span>
          )}
        </h1>
        <div className="talk-facts">
          {here !== undefined && (
            <span className="state">
              <StateDot state={stateOf(here)} />
              {stateSays(here)}
            </span>
          )}
          {summary !== undefined && (
            <>
              <span>{hostSays(summary)}</span>
              <details className="guarantee-more">
                <summary>{GUARANTEE[summary.force]}</summary>
                <p>{guaranteeLong(summary)}</p>
              </details>
              <span>
                {'seen '}
                <Ago at={summary.seenAt} />
              </span>
            </>
          )}
          {forks !== undefined && <Origin log={log} forks={forks} />}
        </div>
      </div>
      <button type="button" className="quiet find-here" aria-label="Command palette" onClick={() => over.set('palette')}>
        <Icon name="search" />
      </button>
      {(ours || (forks !== undefined && forks.forks.length > 0)) && (
        <button type="button" className="quiet small head-deed" aria-label={forkLabel(forks)} onClick={onFork}>
          <Icon name="fork" />
          <span className="head-says">{forkSays(forks)}</span>
        </button>
      )}
      <button
        type="button"
        className="quiet small head-deed find-words"
        aria-label="Search this conversation"
        aria-expanded={finding}
        data-deed="find"
        onClick={onFind}
      >
        <Icon name="find" />
        <span className="head-says">Search</span>
      </button>
      <label className="toggle small">
        <input
          type="checkbox"
          aria-label="All records"
          checked={everything}
          onChange={(event) => setEverything(event.target.checked)}
        />
        <span>All records</span>
      </label>
    </header>
  );
}

const forkSays = (forks: ForksReply | undefined): string =>
  forks === undefined || forks.forks.length === 0 ? 'Fork' : `Fork · ${forks.forks.length}`;
const forkLabel = (forks: ForksReply | undefined): string => {
  const many = forks?.forks.length ?? 0;
  return `Fork this conversation${many === 0 ? '' : `, which has ${many} ${many === 1 ? 'fork' : 'forks'}`}`;
};
