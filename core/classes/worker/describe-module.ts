import type { Description } from './messages.ts';

const handlers = ['bundle', 'configure', 'deployment', 'inputs'] as const;

/** What a module's default export says that it is; the manager judges it. */
export function describeModule(provisioner: unknown): Description {
  const fields = Object(provisioner) as Readonly<Record<string, unknown>>;
  const { className, contractVersion, uses } = fields;
  return {
    type: 'description',
    ...(typeof className === 'string' ? { className } : {}),
    ...(typeof contractVersion === 'number' ? { contractVersion } : {}),
    handlers: handlers.filter((name) => typeof fields[name] === 'function'),
    uses: Array.isArray(uses) ? uses.map(String) : [],
  };
}
