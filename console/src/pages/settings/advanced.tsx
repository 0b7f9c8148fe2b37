/** Filters, budgets, sources: as the files say. Tokens: made and revoked here. */
import { useState, type ReactElement } from 'react';
import { Command, Copy } from '../../parts/copy.tsx';
import { Problem, Skeleton } from '../../parts/empty.tsx';
import { Ago } from '../../parts/time.tsx';
import { useCell } from '../../state/cell.ts';
import { day } from '../../state/clock.ts';
import { messageOf, useLoaded } from '../../state/loaded.ts';
import { client } from '../../state/server.ts';
import { session } from '../../state/session.ts';
import type { SettingReply } from '../../types.ts';
import { SettingTable } from './table.tsx';

const GROUPS: readonly { readonly name: string; readonly about: string; readonly has: (key: string) => boolean }[] = [
  {
    name: 'Filters',
    about: 'What may reach an agent, and when an idle one is woken.',
    has: (key) => /^(min_level|conversation\.|wake\.|max_level\.|core\.)/u.test(key),
  },
  {
    name: 'Budgets',
    about: 'How much one carrier takes, and how long what waits is kept.',
    has: (key) => /^(budget\.|ttl\.|max_open|max_defer|coalesce\.|retention)/u.test(key),
  },
  {
    name: 'Sources',
    about: 'What is watched, and who may send events.',
    has: (key) => /^(sources?\.|webhooks\.|files\.|git\.|gateway\.|server\.)/u.test(key),
  },
  { name: 'Everything else', about: '', has: () => true },
];

export function Advanced(): ReactElement {
  const settings = useLoaded('settings', (signal) => client.settings({ signal }));
  const left = new Set(settings.value?.settings.filter(({ key }) => !key.startsWith('agent.')));
  const groups = GROUPS.map(({ name, about, has }) => {
    const own: SettingReply[] = [...left].filter(({ key }) => has(key));
    for (const each of own) left.delete(each);
    return { name, about, own };
  }).filter(({ own }) => own.length > 0);
  return (
    <>
      <p className="words">
        {settings.value === undefined || settings.value.files.length === 0
          ? 'No earpiece.toml was found: these are the defaults. Make one in the project, and it takes effect at once.'
          : `Read from ${settings.value.files.map(({ file, scope }) => `${file} (${scope})`).join(', ')}; a change of a file takes effect at once.`}
      </p>
      <Command text="earpiece config explain budget.max_items" />
      {settings.problem !== null && <Problem text={settings.problem} again={settings.again} />}
      {settings.value === undefined && settings.problem === null && <Skeleton rows={6} label="reading settings" />}
      {groups.map(({ name, about, own }) => (
        <details key={name} className="group" open={name !== 'Everything else'}>
          <summary>
            <h2>{name}</h2>
            <span className="muted">{about}</span>
          </summary>
          <SettingTable label={name} settings={own} />
        </details>
      ))}
      <Tokens />
    </>
  );
}

const KINDS = [
  { value: 'send', says: 'send: queues notifications and events in one project, reads nothing' },
  { value: 'project', says: 'project: reads and writes one project' },
  { value: 'admin', says: 'admin: everything' },
] as const;

function Tokens(): ReactElement {
  const tokens = useLoaded('tokens', (signal) => client.tokens({ signal }));
  const who = useCell(session);
  const own = who.kind === 'in' ? who.reply.project : '';
  const me = who.kind === 'in' ? who.reply.who.id : '';
  const [name, setName] = useState('');
  const [kind, setKind] = useState<(typeof KINDS)[number]['value']>('send');
  const [project, setProject] = useState(own);
  const [made, setMade] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [asked, setAsked] = useState<string | null>(null);
  const create = (): void => {
    client.createToken({ kind, name: name.trim(), ...(kind === 'admin' ? {} : { project }) }).then(
      ({ token }) => {
        setMade(token);
        setName('');
        setProblem(null);
        tokens.again();
      },
      (error: unknown) => setProblem(messageOf(error)),
    );
  };
  const revoke = (id: string): void => {
    setAsked(null);
    client.revokeToken(id).then(tokens.again, (error: unknown) => setProblem(messageOf(error)));
  };
  return (
    <section aria-label="Tokens" className="tokens">
      <h2>Tokens</h2>
      {(problem ?? tokens.problem) !== null && <Problem text={problem ?? tokens.problem ?? ''} />}
      <form
        className="token-form"
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <label>
          <span>Name</span>
          <input value={name} onChange={(event) => setName(event.target.value)} placeholder="CI of the shop" />
        </label>
        <label>
          <span>For</span>
          <select value={kind} onChange={(event) => setKind(event.target.value as typeof kind)}>
            {KINDS.map(({ value, says }) => (
              <option key={value} value={value}>
                {says}
              </option>
            ))}
          </select>
        </label>
        {kind !== 'admin' && (
          <label>
            <span>Project</span>
            <input value={project} onChange={(event) => setProject(event.target.value)} />
          </label>
        )}
        <button type="submit" disabled={name.trim() === ''}>
          Make a token
        </button>
      </form>
      {made !== null && (
        <div className="command made" role="status">
          <code>{made}</code>
          <Copy text={made} what="the token" />
          <span className="muted">It is shown this once.</span>
        </div>
      )}
      <ul className="rows">
        {tokens.value?.items.map((each) => (
          <li key={each.id} className="row token">
            <b className="words">{each.name}</b>
            <span className="muted words">{`${each.session ? 'browser, ' : ''}${each.kind}${each.project === null ? '' : `, ${each.project}`}${each.agent === null ? '' : `/${each.agent}`}`}</span>
            <span className="muted">
              {each.lastUsedAt === null ? (
                `made ${day(each.createdAt)}`
              ) : (
                <>
                  used <Ago at={each.lastUsedAt} />
                </>
              )}
            </span>
            {asked === each.id ? (
              <span className="buttons">
                <button type="button" className="danger small" onClick={() => revoke(each.id)}>
                  {each.id === me ? 'Revoke: logs you out' : 'Revoke for good'}
                </button>
                <button type="button" className="quiet small" onClick={() => setAsked(null)}>
                  Keep
                </button>
              </span>
            ) : (
              <button type="button" className="small" aria-label={`Revoke ${each.name}`} onClick={() => setAsked(each.id)}>
                Revoke
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
