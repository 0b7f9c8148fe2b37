/**
 * Lists the agents in this order: agents that need a person, agents with a notification that has waited for over a minute,
 * working agents, idle agents, and inactive agents.
 */
import { memo, useEffect, useMemo, useRef, type ReactElement } from 'react';
import { Command } from '../parts/copy.tsx';
import { OpenCounts } from '../parts/counts.tsx';
import { Empty, Problem, Skeleton } from '../parts/empty.tsx';
import { StateDot } from '../parts/icons.tsx';
import { useSteadyOrder } from '../parts/steady.ts';
import { Ago, Clock } from '../parts/time.tsx';
import { change, to, type Query } from '../route.ts';
import { moreAgents, stateOf, useAgents } from '../state/agents.ts';
import { useCell } from '../state/cell.ts';
import { lasting, serverNow, useNow, useNowAt } from '../state/clock.ts';
import { needsAPerson, placesOf, STUCK_MS, stuckSince, type Group } from '../state/needs.ts';
import { useProjects } from '../state/projects.ts';
import { session } from '../state/session.ts';
import { word } from '../state/text.ts';
import type { AgentSummary } from '../types.ts';
import { GUARANTEE, guaranteeLong, hostSays, stateSays, totalOf } from '../words.ts';

const SHOWN = [
  { value: '', says: 'all' },
  { value: 'needs', says: 'that need you' },
  { value: 'active', says: 'active' },
  { value: 'open', says: 'with open notifications' },
  { value: 'stuck', says: 'notification waits over 1 min' },
  { value: 'held', says: 'held by an interrupt' },
  { value: 'paused', says: 'paused' },
  { value: 'away', says: 'not active' },
] as const;

export function AgentsPage({ query }: { readonly query: Query }): ReactElement {
  const { items, loading, problem, more } = useAgents();
  const find = query['find'] ?? '';
  const only = query['only'] ?? '';
  const connect = query['connect'] ?? null;
  const shown = useMemo(() => items.filter((agent) => agent.log.includes(find) && passes(agent, only)), [items, find, only]);
  const now = useNowAt(nextNeed(shown));
  const list = useRef<HTMLDivElement>(null);
  const { places, isOld, sort, letGo } = useSteadyOrder(
    list,
    useMemo(() => placesOf(shown, now), [shown, now]),
  );
  const agentOf = useMemo(() => new Map(shown.map((agent) => [agent.log, agent])), [shown]);
  const filter = (next: { readonly find?: string; readonly only?: string }): void => {
    const { find: f = find, only: o = only } = next;
    change(to.agents({ ...(f === '' ? {} : { find: f }), ...(o === '' ? {} : { only: o }) }));
  };
  return (
    <div className="page agents">
      <header className="page-head">
        <h1>Agents</h1>
        {items.length > 0 && (
          <div className="filters" role="search">
            <input
              type="search"
              placeholder="Find"
              aria-label="Find an agent"
              value={find}
              onChange={(event) => filter({ find: event.target.value })}
            />
            <select aria-label="Show" value={only} onChange={(event) => filter({ only: event.target.value })}>
              {SHOWN.map(({ value, says }) => (
                <option key={value} value={value}>
                  {`${says} (${items.filter((agent) => passes(agent, value)).length}${more ? '+' : ''})`}
                </option>
              ))}
            </select>
          </div>
        )}
      </header>
      {problem !== null && <Problem text={problem} />}
      {loading && <Skeleton rows={6} label="loading the agents" />}
      {!loading && items.length === 0 && problem === null && <Nobody />}
      {items.length > 0 && shown.length === 0 && (
        <Empty title="No agent passes this filter">
          <p className="words">
            {`The filter (${[
              only === '' ? null : (SHOWN.find(({ value }) => value === only)?.says ?? only),
              find === '' ? null : `name contains “${find}”`,
            ]
              .filter(Boolean)
              .join(', ')}) hides all ${items.length} ${more ? 'loaded agents. There are more agents' : 'agents'}.`}
          </p>
          <button type="button" onClick={() => change(to.agents())}>
            Clear the filter
          </button>
        </Empty>
      )}
      {connect !== null && <ConnectHelp key={connect} name={connect} />}
      {isOld && (
        <p className="muted resort" role="status">
          {'The order has changed. '}
          <button type="button" className="small" onClick={sort}>
            Sort again
          </button>
        </p>
      )}
      <div ref={list} onPointerLeave={letGo} onBlur={letGo}>
        {[...Map.groupBy(places, ({ group }) => group)].map(([group, rows]) => (
          <section key={group} className="group" aria-label={GROUP_SAYS[group]}>
            <h2>{`${GROUP_SAYS[group]} · ${rows.length}`}</h2>
            <ul className="rows">
              {rows.map(({ log }) => {
                const agent = agentOf.get(log);
                return agent === undefined ? null : (
                  <li key={log}>
                    <AgentRow agent={agent} />
                  </li>
                );
              })}
            </ul>
          </section>
        ))}
      </div>
      {items.length > 0 && !more && connect === null && (
        <details className="connect" open={items.every((agent) => agent.lastContactAt === null)}>
          <summary>Connect another agent</summary>
          <Connect />
        </details>
      )}
      {more && (
        <p className="muted">
          {`The list has the first ${items.length} agents by name, sorted by need. `}
          <button type="button" onClick={moreAgents}>
            Show more agents
          </button>
        </p>
      )}
    </div>
  );
}

function passes(agent: AgentSummary, only: string): boolean {
  switch (only) {
    case 'needs':
      return needsAPerson(agent, serverNow());
    case 'active':
      return agent.active;
    case 'open':
      return totalOf(agent.open) > 0;
    case 'stuck':
      return stuckSince(agent, serverNow()) !== null;
    case 'held':
      return agent.held !== null;
    case 'paused':
      return agent.paused;
    case 'away':
      return !agent.active;
    default:
      return true;
  }
}

const GROUP_SAYS: Readonly<Record<Group, string>> = {
  needs: 'Needs you',
  waiting: 'A notification has waited for over a minute',
  working: 'Working',
  idle: 'Idle',
  away: 'Not active',
};

/** Returns the next time at which a notification has waited too long for an active agent; otherwise `Infinity`. */
const nextNeed = (agents: readonly AgentSummary[]): number =>
  agents.reduce((next, { active, oldestOpenAt }) => {
    const at = active && oldestOpenAt !== null ? oldestOpenAt + STUCK_MS + 1 : Infinity;
    return at > serverNow() ? Math.min(next, at) : next;
  }, Infinity);

const AgentRow = memo(function AgentRow({ agent }: { readonly agent: AgentSummary }): ReactElement {
  const [first] = agent.conversations;
  const { doing, held } = agent;
  return (
    <a className="row agent" data-row="" href={to.conversation(agent.log, first?.conversation ?? 'main')} data-log={agent.log}>
      <span className="agent-name">
        <StateDot state={stateOf(agent)} />
        <span className="words">
          <span className="agent-project">{`${agent.project}/`}</span>
          <b>{agent.agent}</b>
        </span>
        {agent.conversations.length > 1 && (
          <span className="muted">{`${agent.conversations.filter((each) => each.active).length} of ${agent.conversations.length} conversations active`}</span>
        )}
      </span>
      <span className="agent-doing words">
        {stateSays(agent)}
        {held === null && !agent.paused && doing.since !== null && (
          <span className="muted"> {doing.kind === 'nothing' ? <Ago at={doing.since} /> : <Lasting since={doing.since} />}</span>
        )}
        <Reason agent={agent} />
      </span>
      <span className="agent-open">
        <OpenCounts open={agent.open} />
        <Stuck agent={agent} />
      </span>
      <span className="agent-host words">
        {first === undefined ? 'no host yet' : agent.hosts.length > 1 ? agent.hosts.join(', ') : hostSays(first)}
        {first !== undefined && (
          <span className="muted guarantee" title={guaranteeLong(first)}>
            {GUARANTEE[first.force]}
          </span>
        )}
      </span>
      <span className="agent-seen muted">
        {agent.lastContactAt === null ? 'never seen' : <Ago at={Math.max(agent.lastContactAt, doing.since ?? 0)} />}
      </span>
    </a>
  );
});

/** Shows why the agent needs a person, and since when. */
function Reason({ agent: { held, asksSince, failedAt } }: { readonly agent: AgentSummary }): ReactElement | null {
  if (asksSince !== null)
    return (
      <span className="reason">
        {'asks you whether to begin a turn, '}
        <Ago at={asksSince} />
      </span>
    );
  if (held !== null) {
    const refused = held.refused === 0 ? '' : held.refused === 1 ? ', 1 call refused' : `, ${held.refused} calls refused`;
    return (
      <span className="reason">
        <span className="reason-about">{held.about}</span>
        <span className="muted">
          {held.by === null ? 'since ' : `by ${held.by}, since `}
          <Clock at={held.since} />
          {refused}
        </span>
      </span>
    );
  }
  return failedAt === null ? null : (
    <span className="reason">
      {'the last turn failed '}
      <Ago at={failedAt} />
    </span>
  );
}

/** Shows the time since `since`. The component is separate, so that only the times are rendered each second, not whole rows. */
const Lasting = ({ since }: { readonly since: number }): ReactElement => <>{lasting(useNow() - since)}</>;

function Stuck({ agent }: { readonly agent: AgentSummary }): ReactElement | null {
  const now = useNow();
  const since = stuckSince(agent, now);
  return since === null ? null : <span className="stuck">{`oldest ${lasting(now - since)}`}</span>;
}

const Nobody = (): ReactElement => (
  <Empty title="No agent has made contact yet">
    <Connect />
  </Empty>
);

/** Shows above the list how to connect an agent, and scrolls there, because a link has opened this help. */
function ConnectHelp({ name }: { readonly name: string }): ReactElement {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    place.current?.scrollIntoView({ block: 'start' });
    place.current?.focus({ preventScroll: true });
  }, []);
  const title = name === 'true' ? 'Connect an agent' : `Connect ${name}`;
  return (
    <section className="connect" ref={place} tabIndex={-1} aria-label={title}>
      <h2 className="words">{title}</h2>
      {name === 'true' ? <Connect /> : <Connect log={name} />}
    </section>
  );
}

/** The names of clients for `gateway --print`, by host. */
const CLIENTS: Readonly<Record<string, string>> = {
  'claude-code': 'claude',
  codex: 'codex',
  gemini: 'gemini',
  'gemini-cli': 'gemini',
  qwen: 'qwen',
  'qwen-code': 'qwen',
  opencode: 'opencode',
  cursor: 'cursor',
};

/**
 * Shows how to connect an agent. Without `log`, the command for coding agents comes first. The gateway's commands are for the
 * client of the agent `log`, otherwise for the clients on the server's machine, otherwise for Claude Code and Codex.
 */
function Connect({ log }: { readonly log?: string }): ReactElement {
  const who = useCell(session);
  const { own } = useProjects();
  const found = who.kind === 'in' ? who.reply.shell.clients : [];
  const { items } = useAgents();
  const known = items.find((agent) => agent.log === log)?.conversations ?? [];
  const its = known.map(({ host }) => CLIENTS[host ?? '']).find((client) => client !== undefined);
  const folder = known.find((each) => each.folder !== null)?.folder ?? '.';
  const as = log === undefined ? '' : ` --as ${word(log)}`;
  const clients = its !== undefined ? [its] : found.length > 0 ? found : ['claude', 'codex'];
  const ways = (
    <>
      <h3>{log === undefined ? 'Another MCP client' : 'An MCP client: put the gateway in front of one of its MCP servers'}</h3>
      <p className="muted">
        {its === undefined && found.length > 0 ? 'The server found these clients on its machine. ' : ''}
        Each command prints how to add and how to remove the gateway. After --, write the command of any MCP server.
      </p>
      {clients.map((client) => (
        <Command
          key={client}
          text={`earpiece gateway --print ${client}${as} -- npx -y @modelcontextprotocol/server-filesystem ${word(folder)}`}
        />
      ))}
      <h3>Your own agent loop in TypeScript</h3>
      <p className="muted">
        The package has a library. Its page docs/guides/put-it-into-your-loop.md begins with a program that you can run.
      </p>
      <Command text="npm install earpiece" />
      <h3>The agent that ships with Earpiece</h3>
      <p className="muted">If no model is set, the command lists the available models.</p>
      <Command text="earpiece chat" />
      <h3>No agent yet: queue a notification for later</h3>
      <Command text={`earpiece send --to ${word(log ?? `${own}/coder`)} "the staging database is back"`} />
    </>
  );
  if (log !== undefined) return ways;
  return (
    <>
      <p>
        Run this command in a terminal on the machine of your coding agent. The command finds Claude Code, Codex, Gemini CLI, Qwen
        Code, opencode and pi, shows what it would change in their settings, and asks once:
      </p>
      <Command text="earpiece install" />
      <p>Then restart the agent, and give it something to do. The agent appears here.</p>
      <details className="other-ways">
        <summary>Another MCP client, your own loop, or no agent yet</summary>
        {ways}
      </details>
    </>
  );
}
