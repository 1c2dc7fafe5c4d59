import { fail, strictEqual } from 'node:assert';
import type { SecretReader, Source, SourceServer } from '../../../core/sdk.ts';
import { aSourceContext } from '../../builders/source-context.ts';
import type { FetchedSource } from '../fixtures.ts';

/** The source reads the Secret that it names, for the server that it names. */
export async function checkSecret(source: Source, fixture: FetchedSource): Promise<void> {
  const { source: spec, host } = fixture;
  const server = source.host(spec);
  if (host !== undefined) strictEqual(server && shown(server), host, 'host names another server');
  const read = await secretsRead(source, fixture);
  if (source.secret !== undefined) checkNamed(source.secret(spec), read);
  if (read.length > 0 && server === undefined && source.secretsListHosts !== true) {
    fail(`it reads Secret "${read[0]}", and host names no server that core may show it to`);
  }
}

function checkNamed(named: string | undefined, read: readonly string[]): void {
  const other = read.find((name) => name !== named);
  if (other === undefined) return;
  fail(
    `it reads Secret "${other}", and secret names ${named === undefined ? 'none' : `"${named}"`}`,
  );
}

async function secretsRead(source: Source, fixture: FetchedSource): Promise<readonly string[]> {
  const { source: spec, secrets = {}, configMaps = {} } = fixture;
  const context = aSourceContext({ secrets, configMaps });
  const read: string[] = [];
  const recorded: SecretReader = {
    read: async (name, signal) => {
      read.push(name);
      return await context.secrets.read(name, signal);
    },
  };
  await source.fetch(spec, { ...context, secrets: recorded });
  return read;
}

function shown({ hostname, port }: SourceServer): string {
  return port === '' ? hostname : `${hostname}:${port}`;
}
