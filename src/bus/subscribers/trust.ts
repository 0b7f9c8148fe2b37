/**
 * Decides whether a project's subscribers may be used. Subscribers choose texts that agents read and believe, so the user must
 * first trust the project's folder. New and changed files of a trusted folder are used too.
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
