import { runManager } from 'rukpak-ts/manager';
import provisioner from './class.ts';

const { env } = process;
const tls = env['TLS_DIRECTORY'];

/**
 * The class as a process of its own: beside the stock RukPak it serves the objects of its class, and
 * no others, and holds a lease of its own. Ends at SIGINT and SIGTERM. What deploy/deployment.yaml
 * sets for a cluster has values for this machine here.
 */
await runManager({
  provisioners: [provisioner],
  content: {
    directory: env['CONTENT_DIRECTORY'] ?? '.rukpak/bundles',
    bindAddress: env['CONTENT_BIND_ADDRESS'] ?? '127.0.0.1:8080',
    externalAddress: env['CONTENT_ADDRESS'] ?? 'http://127.0.0.1:8080',
    ...(tls === undefined
      ? {}
      : { tls: { certFile: `${tls}/tls.crt`, keyFile: `${tls}/tls.key` } }),
  },
  healthProbeBindAddress: env['HEALTH_BIND_ADDRESS'] ?? '127.0.0.1:8081',
});
