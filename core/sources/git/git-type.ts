import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { SourceServer, SourceType } from '../../contracts/source.ts';
import { repositoryAddress } from './repository-address.ts';

/** Sources of type git, pinned to a commit; separate from the libraries that fetch. */
export const gitType: SourceType = {
  type: 'git',
  pin: {
    of: ({ git }) => git?.ref.commit,
    at: (source, commit) =>
      source.git !== undefined && /^[0-9a-f]{40}$/.test(commit)
        ? { ...source, git: { ...source.git, ref: { commit } } }
        : undefined,
    place: ({ git }) => git && JSON.stringify([git.repository, git.directory ?? '']),
  },
  host: serverOf,
  secret: ({ git }) => git?.auth?.secret?.name,
  shareable: true,
};

function serverOf({ git }: BundleSource): SourceServer | undefined {
  if (git === undefined) return undefined;
  try {
    const address = repositoryAddress(git.repository);
    if (address.protocol === 'http') return address.url;
    const { host, port } = address;
    const hostname = (host.includes(':') ? `[${host}]` : host).toLowerCase();
    return { protocol: 'ssh:', hostname, port: String(port) };
  } catch {
    // The fetch reports the invalid address.
    return undefined;
  }
}
