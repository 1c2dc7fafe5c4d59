import { readFileSync } from 'node:fs';

const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** The namespace that this pod runs in; outside of pods another one. */
export function podNamespace(otherwise = 'rukpak-system'): string {
  try {
    return readFileSync(namespaceFile, 'utf8').trim();
  } catch {
    return otherwise;
  }
}
