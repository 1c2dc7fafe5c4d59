import { join } from 'node:path';

/** Where a project's own control plane keeps everything. */
export function devClusterFolder(project: string): string {
  return join(project, '.rukpak', 'cluster');
}
