import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import type { SourceServer } from '../contracts/source.ts';
import type { SourceTypes } from './pin.ts';

/** Which server a source is fetched from, without its port; for one of no server its type. */
export function sourceHost(source: BundleSource, sources: SourceTypes): string {
  return sources.get(source.type)?.host(source)?.hostname || source.type;
}

/**
 * The names of the server that a source shows its Secret to: `host:port`, and `host` where the port
 * is its protocol's own. None where there is no such server.
 */
export function credentialHosts(source: BundleSource, sources: SourceTypes): readonly string[] {
  const server = sources.get(source.type)?.host(source);
  return server === undefined ? [] : namesOf(server);
}

const defaultPorts: Readonly<Record<string, string>> = {
  'http:': '80',
  'https:': '443',
  'ssh:': '22',
};

function namesOf({ protocol, hostname, port }: SourceServer): readonly string[] {
  const defaultPort = defaultPorts[protocol];
  const actual = port || defaultPort;
  if (actual === undefined) return [hostname];
  return actual === defaultPort ? [hostname, `${hostname}:${actual}`] : [`${hostname}:${actual}`];
}
