import { type Command, InvalidArgumentError } from 'commander';
import { collect, listFlag, positiveInteger } from '../flags/flag-values.ts';

/** Third-party classes that this process serves too. */
export interface ProvisionerFlags {
  /** Paths or package names. */
  readonly provisioner: readonly string[];
  /** Mebibytes. */
  readonly provisionerMemory: number;
}

export function addProvisionerFlags(command: Command): void {
  command
    .addOption(
      listFlag(
        '--provisioner <path|package>',
        'TypeScript or JavaScript module of a provisioner class that core runs in worker processes',
        (value: string, values: readonly string[]) => [...values, value],
      ),
    )
    .option(
      '--provisioner-memory <MiB>',
      'Maximum memory in MiB for content and objects, per worker process of a --provisioner class',
      positiveInteger,
      256,
    );
}

/** Classes that servers provide over HTTP. */
export interface ProvisionerUrlFlags {
  readonly provisionerUrl: readonly ClassValue[];
  readonly provisionerUrlCredentials: readonly ClassValue[];
  readonly provisionerUrlPlainHttp: readonly string[];
}

/** `<class>=<value>` of a flag. */
interface ClassValue {
  readonly className: string;
  readonly value: string;
}

/** The flags of one class. */
interface RemoteClass {
  readonly className: string;
  readonly url: string;
  readonly credentials: string | undefined;
  readonly plainHttp: boolean;
}

export function addProvisionerUrlFlags(command: Command): void {
  command
    .addOption(
      listFlag(
        '--provisioner-url <class=url>',
        'Provisioner class, and URL of the HTTP server that runs it',
        classValue,
      ),
    )
    .addOption(
      listFlag(
        '--provisioner-url-credentials <class=folder>',
        'Class of --provisioner-url, and folder of its credentials: token, or tls.crt and tls.key, and ca.crt, as in a mounted Secret',
        classValue,
      ),
    )
    .addOption(
      listFlag(
        '--provisioner-url-plain-http <class>',
        'Class of --provisioner-url that core may call over http:// on another machine',
        collect,
      ),
    );
}

/** @throws Error that names a flag for a class which `--provisioner-url` does not name. */
export function remoteClasses(flags: ProvisionerUrlFlags): readonly RemoteClass[] {
  const { provisionerUrl, provisionerUrlCredentials, provisionerUrlPlainHttp } = flags;
  const served = new Set(provisionerUrl.map(({ className }) => className));
  const others = {
    '--provisioner-url-credentials': provisionerUrlCredentials.map(({ className }) => className),
    '--provisioner-url-plain-http': provisionerUrlPlainHttp,
  };
  for (const [flag, names] of Object.entries(others)) {
    const stray = names.find((name) => !served.has(name));
    if (stray === undefined) continue;
    throw new Error(`${flag} is for class "${stray}", which no --provisioner-url serves`);
  }
  return provisionerUrl.map(({ className, value: url }) => ({
    className,
    url,
    credentials: provisionerUrlCredentials.find((other) => other.className === className)?.value,
    plainHttp: provisionerUrlPlainHttp.includes(className),
  }));
}

function classValue(text: string, values: readonly ClassValue[]): readonly ClassValue[] {
  const [, className = '', value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (className === '' || value === '') {
    throw new InvalidArgumentError('It must have the form <class>=<value>.');
  }
  if (values.some((other) => other.className === className)) {
    throw new InvalidArgumentError(`It is given twice for class "${className}".`);
  }
  return [...values, { className, value }];
}
