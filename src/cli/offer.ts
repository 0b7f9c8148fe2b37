/**
 * Offers an agent once to follow the pull request of its branch, after the agent has pushed the branch or opened the pull
 * request.
 */
import { parseAddress } from '../core/address.ts';
import { CannotLook, findPr, following, isSameThing, nameOf } from '../sources/follow/index.ts';
import { openInbox, type UserInbox } from '../user-inbox.ts';
import type { GlobalOptions } from './context.ts';
import { startFollow } from './looker.ts';

/** Starts a process that asks GitHub, because an answer takes longer than an agent waits for its hook. */
export const startOffer = ({ config }: UserInbox, folder: string, to: string): void =>
  startFollow(['--db', config.db, '--offer', to], folder);

/**
 * Offers the open pull request of the branch. Does nothing if there is no such pull request, or if the agent or its project
 * already follows this pull request.
 */
export async function offer(to: string, { db }: GlobalOptions): Promise<void> {
  const pr = await findPr(process.cwd(), undefined).catch((error: unknown) => {
    if (error instanceof CannotLook) return undefined;
    throw error;
  });
  if (pr === undefined) return;
  await using ear = await openInbox(db === undefined ? {} : { flags: { db } });
  const project = `${parseAddress(to).project}/*`;
  const list = await following(ear.store, ear.project);
  if (list.some(({ what, to: receiver }) => [to, project].includes(receiver) && isSameThing(what, pr))) return;
  await ear.emitter.emit({
    // All offers of a pull request to one agent have the same id, so the agent gets only one offer.
    id: `offer.${to}.${pr.host}/${pr.repo}#${pr.number}`,
    type: 'pr.offered',
    source: 'follow',
    subject: to,
    severity: 'info',
    message:
      `${nameOf({ what: pr })} is open and not followed; to get its checks and reviews: ` +
      `earpiece follow pr ${pr.number}, or the tool follow with pull_request "${pr.number}"`,
    key: `follow:offer:${pr.host}/${pr.repo}#${pr.number}`,
    data: { repo: pr.repo, pr: pr.number },
  });
}
