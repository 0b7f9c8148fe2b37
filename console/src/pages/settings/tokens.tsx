/** Creates tokens for programs, shows each new token once, and revokes tokens of programs and browsers. */
import { useState, type ReactElement } from 'react';
import { Copy } from '../../parts/copy.tsx';
import { Problem } from '../../parts/empty.tsx';
import { Ago } from '../../parts/time.tsx';
import { useCell } from '../../state/cell.ts';
import { day } from '../../state/clock.ts';
import { messageOf, useLoaded } from '../../state/loaded.ts';
import { client } from '../../state/server.ts';
import { session } from '../../state/session.ts';

const KINDS = [
  { value: 'send', says: 'send: queues notifications and events in one project, reads nothing' },
  { value: 'project', says: 'project: reads and writes one project' },
  { value: 'admin', says: 'admin: everything' },
] as const;

export function Tokens(): ReactElement {
  const tokens = useLoaded('tokens', (signal) => client.tokens({ signal }));
  const who = useCell(session);
  const own = who.kind === 'in' ? who.reply.project : '';
  const isAdmin = who.kind === 'in' && who.reply.who.kind === 'admin';
  const me = who.kind === 'in' ? who.reply.who.id : '';
  const [name, setName] = useState('');
  const [kind, setKind] = useState<(typeof KINDS)[number]['value']>('send');
  const [project, setProject] = useState(own);
  const [made, setMade] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [asked, setAsked] = useState<string | null>(null);
  const [making, setMaking] = useState(false);
  const create = (): void => {
    // Only one token is created at a time: each token is shown only once, and a second token would hide the first.
    if (making || name.trim() === '') return;
    setMaking(true);
    client
      .createToken({ kind, name: name.trim(), ...(kind === 'admin' ? {} : { project }) })
      .then(
        ({ token }) => {
          setMade(token);
          setName((now) => (now === name ? '' : now));
          setProblem(null);
          tokens.again();
        },
        (error: unknown) => setProblem(messageOf(error)),
      )
      .finally(() => setMaking(false));
  };
  const revoke = (id: string): void => {
    setAsked(null);
    client.revokeToken(id).then(tokens.again, (error: unknown) => setProblem(messageOf(error)));
  };
  return (
    <section aria-label="Tokens" className="tokens">
      <h2>Tokens</h2>
      {(problem ?? tokens.problem) !== null && <Problem text={problem ?? tokens.problem ?? ''} />}
      {isAdmin && (
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
            <span>Rights</span>
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
            Create token
          </button>
        </form>
      )}
      {made !== null && (
        <div className="command made" role="status">
          <code>{made}</code>
          <Copy text={made} what="the token" />
          <span className="muted">The token is shown only once.</span>
        </div>
      )}
      <ul className="rows">
        {tokens.value?.items.map((each) => (
          <li key={each.id} className="row token">
            <b className="words">{each.name}</b>
            <span className="muted words">{`${each.session ? 'browser, ' : ''}${each.kind}${each.project === null ? '' : `, ${each.project}`}${each.agent === null ? '' : `/${each.agent}`}`}</span>
            <span className="muted">
              {each.lastUsedAt === null ? (
                `created ${day(each.createdAt)}`
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
