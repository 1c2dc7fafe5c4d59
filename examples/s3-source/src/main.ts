import { runManager } from 'rukpak-ts/manager';
import manifests from './class.ts';
import s3 from './source.ts';

const {
  CONTENT_DIRECTORY: directory = '.rukpak/bundles',
  CONTENT_BIND_ADDRESS: bindAddress = ':8080',
  CONTENT_ADDRESS: externalAddress = 'http://localhost:8080',
  HEALTH_BIND_ADDRESS: healthProbeBindAddress = ':8081',
} = process.env;

// Until SIGTERM. What is not said here is as in the stock core, such as a lease by the class's name.
await runManager({
  provisioners: [manifests],
  sources: [s3],
  content: { directory, bindAddress, externalAddress },
  healthProbeBindAddress,
});
