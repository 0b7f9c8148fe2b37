/** The agents in every page, in an area of their own, so that places stay in view however many agents there are. */
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { to, type Route } from '../route.ts';
import { stateOf, useAgents } from '../state/agents.ts';
import { stateSays, totalOf } from '../words.ts';
import { OpenCounts } from './counts.tsx';
import { StateDot } from './icons.tsx';

/** With fewer nobody has to look for one. */
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
  return (
    <section className="side-agents" aria-label="Agents">
      {items.length >= FILTER_FROM && (
        <input
          type="search"
          className="side-filter"
          placeholder={`Filter ${items.length}${more ? '+' : ''} agents`}
          aria-label="Filter the agents beside"
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
      )}
      {shown.length === 0 && <p className="muted words">{`no agent has “${find}” in its name`}</p>}
      <div className="side-list" ref={list}>
        {[...Map.groupBy(shown, (agent) => agent.project)].map(([project, agents]) => (
          <section key={project} aria-label={`project ${project}`}>
            <h2 className="words">{project}</h2>
            <ul>
              {agents.map((agent) => (
                <li key={agent.log}>
                  <a
                    href={to.conversation(agent.log, agent.conversations[0]?.conversation ?? 'main')}
                    aria-current={route.kind === 'conversation' && route.log === agent.log ? 'true' : undefined}
                    title={`${agent.log}: ${stateSays(agent)}`}
                  >
                    <StateDot state={stateOf(agent)} />
                    <span className="words">{agent.agent}</span>
                    {agent.paused && <span className="muted">paused</span>}
                    {totalOf(agent.open) > 0 && <OpenCounts open={agent.open} brief />}
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
