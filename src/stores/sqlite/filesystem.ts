import { readFileSync, realpathSync, statfsSync } from 'node:fs';

/** The file system of a path: the kernel's number of its kind, and its name if it is known. */
export type FileSystem = { readonly type: number; readonly name?: string; readonly mountedAt?: string };

/** Numbers of `statfs(2)`. FUSE file systems differ only by name. */
const NETWORK_TYPES: ReadonlyMap<number, string> = new Map([
  [0x69_69, 'nfs'],
  [0xff_53_4d_42, 'cifs'],
  [0xfe_53_4d_42, 'smb2'],
  [0x51_7b, 'smb'],
  [0x01_02_19_97, '9p'],
  [0x00_c3_64_00, 'ceph'],
  [0x53_46_41_4f, 'afs'],
  [0x6b_41_46_53, 'afs'],
  [0x0b_d0_0b_d0, 'lustre'],
  [0x73_75_72_45, 'coda'],
  [0x56_4c, 'ncpfs'],
  [0x01_16_19_70, 'gfs2'],
  [0x74_61_63_6f, 'ocfs2'],
  [0x19_83_03_26, 'beegfs'],
]);
const FUSE = 0x65_73_55_46;
const NETWORK_NAMES =
  /^(nfs\d*|cifs|smb\d*|smbfs|9p|ceph|afs|lustre|coda|ncpfs|gfs2|ocfs2|beegfs\w*|glusterfs|webdav|afpfs|fuse\.(sshfs|davfs2?|rclone|s3fs|gcsfuse|glusterfs|ceph(-fuse)?|gvfsd-fuse|goofys|curlftpfs|smbnetfs|juicefs|seaweedfs|moosefs|mfs|blobfuse2?|afpfs\w*|hubicfuse|weed|mount-s3|mountpoint-s3))$/;

/** Returns the file system of an existing path. */
export function fileSystemOf(path: string): FileSystem {
  const type = statfsSync(path).type;
  // The table of mounts is read only if the number does not already show a local file system.
  if (process.platform !== 'linux' || (type !== FUSE && !NETWORK_TYPES.has(type))) return { type };
  try {
    return { type, ...mountOf(realpathSync(path), readFileSync('/proc/self/mountinfo', 'utf8')) };
  } catch {
    return { type };
  }
}

/** Finds the innermost mount that contains `path`, in the text of `/proc/self/mountinfo`. */
export function mountOf(path: string, mountinfo: string): { name: string; mountedAt: string } | undefined {
  let found: { name: string; mountedAt: string } | undefined;
  for (const line of mountinfo.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const mountedAt = before
      .split(' ')[4]
      ?.replaceAll(/\\(\d{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)));
    const name = after.split(' ')[0];
    if (mountedAt === undefined || !name) continue;
    const holds = path === mountedAt || path.startsWith(mountedAt.endsWith('/') ? mountedAt : `${mountedAt}/`);
    // If two mounts have the same path, the later line names the visible mount.
    if (holds && mountedAt.length >= (found?.mountedAt.length ?? 0)) found = { name, mountedAt };
  }
  return found;
}

/** Returns the name of a network file system. Undefined for a local file system. */
export function networkName(fs: FileSystem): string | undefined {
  if (fs.name !== undefined) return NETWORK_NAMES.test(fs.name) ? fs.name : undefined;
  return NETWORK_TYPES.get(fs.type);
}
