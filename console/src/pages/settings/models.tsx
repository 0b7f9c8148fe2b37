import type { ReactElement } from 'react';
import { Command } from '../../parts/copy.tsx';
import { Problem, Skeleton } from '../../parts/empty.tsx';
import { useLoaded } from '../../state/loaded.ts';
import { client } from '../../state/server.ts';
import { SettingTable } from './table.tsx';

export function Models(): ReactElement {
  const settings = useLoaded('settings', (signal) => client.settings({ signal }));
  const own = settings.value?.settings.filter(({ key }) => key.startsWith('agent.')) ?? [];
  return (
    <>
      <p>These settings are for the agent that ships with Earpiece. Other hosts choose their own models.</p>
      {settings.problem !== null && <Problem text={settings.problem} again={settings.again} />}
      {settings.value === undefined && settings.problem === null && <Skeleton rows={3} label="reading settings" />}
      {own.length > 0 && <SettingTable label="models" settings={own} />}
      <p>To choose a model for one start, or for all later starts of earpiece chat and earpiece run:</p>
      <Command text="earpiece chat --model anthropic:claude-sonnet-5" />
      <Command text="earpiece config set agent.model ollama:qwen3" />
    </>
  );
}
