import { type Command, InvalidArgumentError } from 'commander';
import { collect, positiveInteger } from './flag-values.ts';

/** Classes of third parties that this process serves besides. */
export interface ProvisionerFlags {
  /** Paths, or names of packages. */
  readonly provisioner: readonly string[];
  /** Mebibytes. */
  readonly provisionerMemory: number;
}

export function addProvisionerFlags(command: Command): void {
  command
    .option(
      '--provisioner <path|package>',
      'serve the class of this TypeScript or JavaScript module, in processes of its own; repeatable',
      (value: string, values: readonly string[]) => [...values, value],
      [],
    )
    .option(
      '--provisioner-memory <MiB>',
      'bound on what each process of such a class needs for content and objects',
      positiveInteger,
      256,
    );
}

/** Classes that servers provide by HTTP. */
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

/** What the flags say of one class. */
interface RemoteClass {
  readonly className: string;
  readonly url: string;
  readonly credentials: string | undefined;
  readonly plainHttp: boolean;
}

export function addProvisionerUrlFlags(command: Command): void {
  command
    .option(
      '--provisioner-url <class=url>',
      'serve this class by the HTTP server at this URL; repeatable',
      classValue,
      [],
    )
    .option(
      '--provisioner-url-credentials <class=folder>',
      'what that server is shown: token, or tls.crt and tls.key, and ca.crt, as in a mounted Secret; repeatable',
      classValue,
      [],
    )
    .option(
      '--provisioner-url-plain-http <class>',
      'the URL of that class may be http:// although it leaves this machine; repeatable',
      collect,
      [],
    );
}

/** @throws Error that names a flag that is for no class of `--provisioner-url` */
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
    throw new InvalidArgumentError('It must be a class, "=" and what is for it.');
  }
  if (values.some((other) => other.className === className)) {
    throw new InvalidArgumentError(`It is given twice for class "${className}".`);
  }
  return [...values, { className, value }];
}
