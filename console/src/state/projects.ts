/** Lists the known projects: projects with agents, and the server's project. */
import { useMemo } from 'react';
import { useAgents } from './agents.ts';
import { useCell } from './cell.ts';
import { session } from './session.ts';

export function useProjects(): { readonly own: string; readonly all: readonly string[] } {
  const who = useCell(session);
  const own = who.kind === 'in' ? who.reply.project : '';
  const { items } = useAgents();
  const all = useMemo(() => [...new Set([own, ...items.map((agent) => agent.project)])].toSorted(), [own, items]);
  return { own, all };
}
