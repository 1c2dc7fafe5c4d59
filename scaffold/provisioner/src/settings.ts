import { TerminalError } from 'rukpak-ts/sdk';

/** What a BundleDeployment of this class may say in `spec.config`. */
export interface Settings {
  readonly namespace: string;
  readonly replicas: number;
}

const defaults: Settings = { namespace: 'default', replicas: 1 };

/** The settings, checked. Each message names the field and the way out. */
export function readSettings(config: Readonly<Record<string, unknown>> = {}): Settings {
  const unknown = Object.keys(config).find((name) => !Object.hasOwn(defaults, name));
  if (unknown !== undefined) {
    const known = Object.keys(defaults).join(' and ');
    throw new TerminalError(`spec.config.${unknown} is unknown: there are ${known}`);
  }
  const { namespace, replicas } = { ...defaults, ...config };
  if (typeof namespace !== 'string' || namespace === '') {
    throw new TerminalError('spec.config.namespace must be the name of a namespace');
  }
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 1) {
    throw new TerminalError('spec.config.replicas must be a whole number from 1 on');
  }
  return { namespace, replicas };
}
