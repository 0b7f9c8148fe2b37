import { useState, type ReactElement } from 'react';
import { Command, LOGIN_COMMAND } from '../../parts/copy.tsx';
import { Problem } from '../../parts/empty.tsx';
import type { TokenInfo } from '../../../../src/wire/client/index.ts';
import { setTheme, theme, type Theme } from '../../parts/theme.ts';
import { useCell } from '../../state/cell.ts';
import { day, minuteTime } from '../../state/clock.ts';
import { messageOf } from '../../state/loaded.ts';
import { leave, session } from '../../state/session.ts';

/** Describes the login: `a browser with admin rights`, `a browser of ci, with project rights in shop`. */
function whoSays({ name, session: isBrowser, kind, project }: TokenInfo): string {
  const owner = isBrowser ? name.replace(/^browser\b/u, 'a browser') : name;
  return `${owner}${/ of /u.test(owner) ? ',' : ''} with ${kind} rights${project === null ? '' : ` in ${project}`}`;
}

export function Account(): ReactElement | null {
  const who = useCell(session);
  const chosen = useCell(theme);
  const [problem, setProblem] = useState<string | null>(null);
  if (who.kind !== 'in') return null;
  const { reply } = who;
  return (
    <>
      <dl className="facts wide">
        <div>
          <dt>you are</dt>
          <dd className="words">{whoSays(reply.who)}</dd>
        </div>
        {reply.who.expiresAt !== null && (
          <div>
            <dt>logged in until</dt>
            <dd>{`${day(reply.who.expiresAt)}, ${minuteTime(reply.who.expiresAt)}`}</dd>
          </div>
        )}
        <div>
          <dt>server</dt>
          <dd className="words">{`${window.location.host}, version ${reply.version}`}</dd>
        </div>
        <div>
          <dt>database</dt>
          <dd className="words">{reply.store}</dd>
        </div>
        <div>
          <dt>project</dt>
          <dd className="words">{reply.project}</dd>
        </div>
      </dl>
      <fieldset>
        <legend>Theme</legend>
        {(['system', 'light', 'dark'] satisfies Theme[]).map((each) => (
          <label key={each} className="inline">
            <input type="radio" name="theme" checked={chosen === each} onChange={() => setTheme(each)} />
            <span>{each}</span>
          </label>
        ))}
      </fieldset>
      <h2>Another browser</h2>
      <p>This command prints a URL that logs in one browser, once:</p>
      <Command text={LOGIN_COMMAND} />
      <p>
        <button type="button" onClick={() => leave().catch((error: unknown) => setProblem(messageOf(error)))}>
          Log out
        </button>
      </p>
      {problem !== null && <Problem text={problem} />}
    </>
  );
}
