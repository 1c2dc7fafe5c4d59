import { type ClassHost, createRemoteProvisioner, joinedHosts } from '../../core/classes/index.ts';
import type { Logger } from '../../core/contracts/logger.ts';
import { proxyFromEnvironment } from '../../core/platform/net/index.ts';
import type { ByteBudget } from '../../core/platform/runtime/index.ts';
import { type ProvisionerUrlFlags, remoteClasses } from './provisioner-flags.ts';

/**
 * The classes of `--provisioner-url`; their servers need not run yet.
 * @throws Error of one line for an invalid flag, or for a class that is among `served`.
 */
export async function openProvisionerUrls(
  flags: ProvisionerUrlFlags,
  served: readonly string[],
  process: { readonly memory: ByteBudget; readonly logger: Logger },
): Promise<ClassHost> {
  const remotes = remoteClasses(flags);
  const twice = remotes.find(({ className }) => served.includes(className));
  if (twice !== undefined) {
    throw new Error(
      `--provisioner-url: class "${twice.className}" is served by this program itself already: rename yours`,
    );
  }
  const hosts: ClassHost[] = [];
  try {
    for (const remote of remotes) {
      const options = { ...remote, proxy: proxyFromEnvironment(), ...process };
      const provisioner = await createRemoteProvisioner(options);
      hosts.push({ provisioners: [provisioner], close: () => provisioner.close() });
    }
  } catch (error) {
    await joinedHosts(hosts).close();
    throw error;
  }
  return joinedHosts(hosts);
}
