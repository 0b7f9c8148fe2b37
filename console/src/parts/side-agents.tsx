/** The list of agents next to every page. The agents scroll in a separate area, so that the links to the pages stay in view. */
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { to, type Route } from '../route.ts';
import { stateOf, useAgents } from '../state/agents.ts';
import { serverNow } from '../state/clock.ts';
import { placesOf } from '../state/needs.ts';
import type { AgentSummary } from '../types.ts';
import { stateSays, totalOf } from '../words.ts';
import { OpenCounts } from './counts.tsx';
import { StateDot } from './icons.tsx';

/** The minimum number of agents for which the filter is shown. */
const FILTER_FROM = 8;

export function SideAgents({ route }: { readonly route: Route }): ReactElement | null {
  const { items, more } = useAgents();
  const [find, setFind] = useState('');
  const list = useRef<HTMLDivElement>(null);
  const open = route.kind === 'conversation' ? route.log : null;
  const listed = items.some(({ log }) => log === open);
  useEffect(() => {
    if (open !== null && listed) list.current?.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' });
  }, [open, listed]);
  if (items.length === 0) return null;
  const words = find.toLowerCase().trim();
  const shown = items.filter(({ log }) => log.toLowerCase().includes(words));
  const sections = sectionsOf(shown);
  return (
    <section className="side-agents" aria-label="Agents">
      {items.length >= FILTER_FROM && (
        <input
          type="search"
          className="side-filter"
          placeholder={`Filter ${items.length}${more ? '+' : ''} agents`}
          aria-label="Filter the agents in the side list"
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
      )}
      {shown.length === 0 && <p className="muted words">{`no agent has “${find}” in its name`}</p>}
      <div className="side-list" ref={list}>
        {[...sections].map(([section, agents]) => (
          <section key={section} aria-label={section === NEEDS_YOU ? 'agents that need you' : `project ${section}`}>
            <h2 className="words">{section}</h2>
            <ul>
              {agents.map((agent) => (
                <li key={agent.log}>
                  <a
                    href={to.conversation(agent.log, agent.conversations[0]?.conversation ?? 'main')}
                    aria-current={route.kind === 'conversation' && route.log === agent.log ? 'true' : undefined}
                    title={`${agent.log}: ${stateSays(agent)}`}
                  >
                    <StateDot state={stateOf(agent)} />
                    <span className="words">{section === NEEDS_YOU ? agent.log : agent.agent}</span>
                    {section === NEEDS_YOU || agent.paused ? (
                      <span className="muted">{needSays(agent)}</span>
                    ) : (
                      totalOf(agent.open) > 0 && <OpenCounts open={agent.open} brief />
                    )}
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
        {more && (
          <a href={to.agents()} className="muted">
            and others
          </a>
        )}
      </div>
    </section>
  );
}

const NEEDS_YOU = 'Needs you';

const needSays = ({ paused, asksSince, held }: AgentSummary): string =>
  paused ? 'paused' : asksSince !== null ? 'asks' : held !== null ? 'held' : 'failed';

/** Returns the sections: first the agents that need a person, then the other agents by project. */
function sectionsOf(agents: readonly AgentSummary[]): ReadonlyMap<string, readonly AgentSummary[]> {
  const urgent = new Set(placesOf(agents, serverNow()).flatMap(({ group, log }) => (group === 'needs' ? [log] : [])));
  const byLog = new Map(agents.map((agent) => [agent.log, agent]));
  const first = [...urgent].flatMap((log) => byLog.get(log) ?? []);
  const others = agents.filter(({ log }) => !urgent.has(log));
  return new Map([
    ...(first.length === 0 ? [] : [[NEEDS_YOU, first] as const]),
    ...Map.groupBy(others, ({ project }) => project),
  ]);
}
