import { runManager } from 'rukpak-ts/manager';
import provisioner from './class.ts';

/**
 * The class as a process of its own: beside the stock RukPak it serves the objects of its class, and
 * no others, and holds a lease of its own. Ends at SIGINT and SIGTERM.
 */
await runManager({
  provisioners: [provisioner],
  content: {
    // Where unpacked content is kept, and where others fetch it: see deploy/deployment.yaml.
    directory: process.env['CONTENT_DIRECTORY'] ?? '.rukpak/bundles',
    externalAddress: process.env['CONTENT_URL'] ?? 'http://localhost:8080',
  },
});
