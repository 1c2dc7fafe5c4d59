import { meantField } from '../../api/spec-config.ts';
import {
  contractVersion,
  type DefinedProvisioner,
  type Provisioner,
} from '../contracts/provisioner.ts';

/**
 * Classes in this process, in worker processes, or behind a URL. Core calls the handlers of all of
 * them in the same way.
 */
export interface ClassHost {
  readonly provisioners: readonly Provisioner[];
  /** Ends its processes and connections at once; running and later calls reject. */
  close(): Promise<void>;
}

/** Combines several hosts into one. */
export function joinedHosts(hosts: readonly ClassHost[]): ClassHost {
  return {
    provisioners: hosts.flatMap(({ provisioners }) => provisioners),
    close: async () => {
      await Promise.all(hosts.map((host) => host.close()));
    },
  };
}

/** A module's description of the class that it exports. */
export interface ClassDescription {
  readonly className?: string | undefined;
  readonly contractVersion?: number | undefined;
  readonly handlers: readonly string[];
  /** Names of its functions that are no handlers. */
  readonly others?: readonly string[] | undefined;
  readonly uses: readonly string[];
}

const handlerNames = ['bundle', 'configure', 'deployment', 'inputs'] as const;

const longestName = 63;

/**
 * A class's description, if the class implements this version of the contract.
 * @throws Error in one sentence otherwise.
 */
export function checkedClass({
  className,
  contractVersion: version,
  handlers,
  others = [],
  uses,
}: ClassDescription): Pick<Provisioner, 'className' | 'uses'> {
  const fix = 'its default export must be defineProvisioner({ className, … })';
  if (className === undefined) throw new Error(`it exports no provisioner: ${fix}`);
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(className) || className.length > longestName) {
    throw new Error(
      `its className "${className.slice(0, longestName)}" is invalid: use at most ${longestName} of a-z, 0-9 and "-", with neither end a "-"`,
    );
  }
  if (version === undefined) {
    throw new Error(`class "${className}" does not say for which contract it is written: ${fix}`);
  }
  if (version !== contractVersion) {
    throw new Error(
      `class "${className}" is written for contract version ${version}, and this rukpak has ${contractVersion}: use an sdk of its release`,
    );
  }
  checkMisspelt(className, others);
  checkHandlers(className, handlers);
  const odd = uses.find((use) => use !== 'cluster' && use !== 'seed');
  if (odd !== undefined) {
    throw new Error(
      `class "${className}" uses "${odd.slice(0, 50)}": there are "cluster" and "seed"`,
    );
  }
  return { className, uses: uses as readonly ('cluster' | 'seed')[] };
}

/**
 * Checks a class that this process has loaded. One without a version was made without the SDK, by
 * core itself or a test.
 * @throws Error in one sentence when it is not a class of this contract.
 */
export function checkLoaded(provisioner: Provisioner & Partial<DefinedProvisioner>): void {
  const { className, contractVersion: version = contractVersion, uses = [] } = provisioner;
  const handlers = handlerNames.filter((name) => provisioner[name] !== undefined);
  const names: readonly string[] = handlerNames;
  const others = Object.entries(provisioner).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'function' && !names.includes(name) ? [name] : [],
  );
  checkedClass({ className, contractVersion: version, handlers, others, uses: [...uses] });
}

/** Nothing else would say that core calls a handler by another name. */
function checkMisspelt(className: string, others: readonly string[]): void {
  for (const name of others) {
    const meant = meantField(name, handlerNames);
    if (meant === undefined) continue;
    throw new Error(
      `class "${className}" has a function "${name}", which core never calls: did you mean ${meant}?`,
    );
  }
}

function checkHandlers(className: string, handlers: readonly string[]): void {
  if (handlers.includes('inputs') && !handlers.includes('deployment')) {
    throw new Error(
      `class "${className}" has an inputs handler and no deployment handler: core gives inputs to deployment only`,
    );
  }
  if (handlers.includes('bundle')) return;
  if (handlers.includes('configure')) {
    throw new Error(
      `class "${className}" has a configure handler and no bundle handler: only the class that a Bundle is unpacked by adapts its content`,
    );
  }
  if (handlers.includes('deployment')) return;
  throw new Error(`class "${className}" has neither a bundle nor a deployment handler`);
}
