const words: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'file exists',
  EISDIR: 'is a directory',
  ELOOP: 'too many levels of symbolic links',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'file name too long',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
};

const operations: Readonly<Record<string, string>> = { scandir: 'open', lstat: 'stat' };

/**
 * A failure of Node's file system in the words of Go's, `open a.yaml: no such file or directory`, as
 * opm prints them; undefined where it is another error. `path` is the one to name, as it was typed.
 */
export function goFileError(error: unknown, path: string): string | undefined {
  if (!(error instanceof Error) || !('code' in error && 'syscall' in error)) return undefined;
  const { code, syscall } = error;
  const what = words[String(code)];
  if (what === undefined) return undefined;
  return `${operations[String(syscall)] ?? String(syscall)} ${path}: ${what}`;
}
