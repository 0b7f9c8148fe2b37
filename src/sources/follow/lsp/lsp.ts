/**
 * Follows a language server, and reports new errors in files that change after the follower began. An error is open until it is
 * fixed. Errors that a file had in the last commit are not reported.
 */
import type { Follower } from '../follower.ts';
import type { Group, What } from '../list.ts';
import type { Memory, Session } from './session.ts';

export function lspFollower(what: Extract<What, { kind: 'lsp' }>, { since }: Pick<Group, 'since'>): Follower {
  let session: Session | undefined;
  const end = async (): Promise<void> => {
    const ended = session;
    session = undefined;
    await ended?.end();
  };
  return {
    look: async (state, signal) => {
      try {
        session ??= await (
          await import('./session.ts')
        ).Session.start(what, (state ?? { at: since, files: {} }) as Memory, signal);
        return await session.look(signal);
      } catch (error) {
        await end();
        throw error;
      }
    },
    end,
  };
}
