import type { GitSource } from '../../api/v1alpha1/bundle.ts';
import type { SourceContext, SourceResult } from '../../core/contracts/source.ts';
import { createGitSource, type GitSourceOptions } from '../../core/sources/git/git-source.ts';
import { aSourceContext } from './source-context.ts';

export interface GitFetch {
  readonly git: GitSource;
  /** The only Secret that there is, by its keys; its name is `s`. */
  readonly secret?: Readonly<Record<string, string>>;
  readonly context?: Partial<SourceContext>;
  readonly options?: GitSourceOptions;
}

/** One fetch by the git source, as the Bundle reconciler has it. */
export async function fetchGit(fetch: GitFetch): Promise<SourceResult> {
  const { git, secret, context, options } = fetch;
  const data = new Map(Object.entries(secret ?? {}).map(([key, text]) => [key, Buffer.from(text)]));
  const auth = secret === undefined ? {} : { auth: { secret: { name: 's' }, ...git.auth } };
  return await createGitSource(options).fetch(
    { type: 'git', git: { ...git, ...auth } },
    aSourceContext({
      secrets: { read: async (name) => (name === 's' ? { type: 'Opaque', data } : undefined) },
      ...context,
    }),
  );
}

/** The files of a result as text. */
export function textOf(result: SourceResult): Record<string, string> {
  return Object.fromEntries(
    [...result.files.files].map(([path, bytes]) => [path, Buffer.from(bytes).toString('utf8')]),
  );
}
