import {
  type ClassHost,
  joinedHosts,
  runThirdParty,
  type ThirdPartyOptions,
} from '../../core/classes/index.ts';
import type { Logger } from '../../core/contracts/logger.ts';
import { errorMessage } from '../../core/errors.ts';
import type { ByteBudget } from '../../core/platform/runtime/index.ts';
import type { ProvisionerFlags } from './provisioner-flags.ts';
import { provisionerModule } from './provisioner-module.ts';

/**
 * The classes of `--provisioner`, each in its own processes.
 * @throws Error of one line that names the flag, for a class that cannot be loaded, or whose name
 * is among `served` or in another flag.
 */
export async function openProvisioners(
  { provisioner: names, provisionerMemory: memoryMegabytes }: ProvisionerFlags,
  served: readonly string[],
  process: { readonly memory: ByteBudget; readonly logger: Logger },
): Promise<ClassHost> {
  const opened = await Promise.allSettled(
    names.map(async (name) => await open(name, { memoryMegabytes, ...process })),
  );
  const hosts = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  try {
    for (const each of opened) if (each.status === 'rejected') throw each.reason as Error;
    refuseTwice(hosts, names, served);
  } catch (error) {
    await joinedHosts(hosts).close();
    throw error;
  }
  return joinedHosts(hosts);
}

async function open(
  name: string,
  options: Pick<ThirdPartyOptions, 'memoryMegabytes' | 'memory' | 'logger'>,
): Promise<ClassHost> {
  try {
    return await runThirdParty({ ...provisionerModule(name), ...options });
  } catch (error) {
    const reason = errorMessage(error).replaceAll(/\s+/g, ' ').trim();
    throw new Error(`--provisioner ${name}: ${reason}`, { cause: error });
  }
}

function refuseTwice(
  hosts: readonly ClassHost[],
  names: readonly string[],
  served: readonly string[],
): void {
  const known = new Map(
    served.map((className) => [className, 'this program or --provisioner-url']),
  );
  for (const [index, { className }] of joinedHosts(hosts).provisioners.entries()) {
    const flag = `--provisioner ${names[index]}`;
    const other = known.get(className);
    if (other !== undefined) {
      throw new Error(`${flag}: class "${className}" is served by ${other} already: rename one`);
    }
    known.set(className, flag);
  }
}
