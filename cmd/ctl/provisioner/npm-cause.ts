import { errorMessage } from '../../../core/errors.ts';

/** Why npm has failed, in its own words where it has any. */
export function npmCause(error: unknown): string {
  const { code, stderr = '' } = error as { readonly code?: unknown; readonly stderr?: string };
  if (code === 'ENOENT') return 'there is no npm on the PATH';
  if (stderr.includes('npm error code EBADENGINE')) return 'npm runs on a Node before 24';
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const said = lines
    .filter((line) => /^npm error (?!code |path |command |A complete log)/.test(line))
    .map((line) => line.replace('npm error ', ''));
  // What a script of ours says comes before.
  const ours = lines.find((line) => line.startsWith('error: '))?.replace('error: ', '');
  return ours ?? said[0] ?? errorMessage(error);
}
