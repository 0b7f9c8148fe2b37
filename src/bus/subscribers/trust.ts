/**
 * A project's subscribers decide which texts its agents read, in frames that the agents believe. So the folder is used only after
 * its user has trusted it. From then on, new and changed files in it are used like the user's own.
 */
import { dirname } from 'node:path';
import type { Surroundings } from '../../config/places.ts';
import { trustedFolders } from '../../config/trust.ts';
import type { ProjectTrust } from './folders.ts';

export type SubscriberTrust = ProjectTrust & {
  readonly isTrusted: (folder: string) => boolean;
  readonly trust: (folder: string) => void;
};

export function subscriberTrust(at: Surroundings): SubscriberTrust {
  const folders = trustedFolders(at);
  return {
    state: folders.state,
    allows: ({ from }) => folders.isTrusted(dirname(from.file)),
    isTrusted: folders.isTrusted,
    trust: folders.trust,
  };
}
