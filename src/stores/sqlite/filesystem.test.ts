import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { fileSystemOf, mountOf, networkName } from './filesystem.ts';

const MOUNTINFO = `22 27 0:21 / / rw,relatime - ext4 /dev/vda rw
30 22 0:44 / /home rw,relatime shared:1 - nfs4 server:/home rw,vers=4.2
31 30 0:45 / /home/me/local rw - xfs /dev/vdb rw
32 22 0:46 / /mnt/two\\040words rw - fuse.sshfs me@host: rw
33 22 0:47 / /mnt/over rw - ext4 /dev/vdc rw
34 33 0:48 / /mnt/over rw master:7 - cifs //host/share rw
`;

it.each([
  ['/var/lib', 'ext4', '/'],
  ['/home', 'nfs4', '/home'],
  ['/home/me/.local/state', 'nfs4', '/home'],
  ['/homeless', 'ext4', '/'],
  ['/home/me/local/x', 'xfs', '/home/me/local'],
  ['/mnt/two words/e.db', 'fuse.sshfs', '/mnt/two words'],
  ['/mnt/over/e.db', 'cifs', '/mnt/over'],
])('%s is on the file system %s', (path, name, mountedAt) => {
  expect(mountOf(path, MOUNTINFO)).toEqual({ name, mountedAt });
});

it.each([
  ['nfs', 'nfs'],
  ['nfs4', 'nfs4'],
  ['cifs', 'cifs'],
  ['smb3', 'smb3'],
  ['9p', '9p'],
  ['fuse.sshfs', 'fuse.sshfs'],
  ['fuse.rclone', 'fuse.rclone'],
  ['ext4', undefined],
  ['btrfs', undefined],
  ['overlay', undefined],
  ['tmpfs', undefined],
  ['fuseblk', undefined],
  ['fuse.encfs', undefined],
  ['virtiofs', undefined],
])('for the file system %s, the name of the network file system is %s', (name, network) => {
  expect(networkName({ type: 0x65_73_55_46, name })).toBe(network);
});

it('a file system without a name is recognized by its number', () => {
  expect(networkName({ type: 0xff_53_4d_42 })).toBe('cifs');
  expect(networkName({ type: 0x65_73_55_46 })).toBeUndefined();
  expect(networkName(fileSystemOf(tmpdir()))).toBeUndefined();
});
