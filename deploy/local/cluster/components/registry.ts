import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Layout } from '../layout.ts';
import { LOOPBACK } from '../ports.ts';
import type { Part } from '../processes.ts';

const configFile = (layout: Layout) => join(layout.config, 'registry.yaml');

/** Writes the registry's configuration: plain HTTP, no login, deletion allowed. */
export async function prepareRegistry(layout: Layout, port: number): Promise<void> {
  const config = {
    version: 0.1,
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: layout.registryData },
      delete: { enabled: true },
    },
    http: { addr: `${LOOPBACK}:${port}`, secret: randomBytes(16).toString('hex') },
  };
  await writeFile(configFile(layout), stringify(config), { mode: 0o600 });
}

export function registry(binary: string, layout: Layout): Part {
  return {
    name: 'registry',
    binary,
    log: join(layout.logs, 'registry.log'),
    args: ['serve', configFile(layout)],
    // Otherwise it would look for a trace collector and fill its log with failures.
    env: { OTEL_TRACES_EXPORTER: 'none' },
  };
}
