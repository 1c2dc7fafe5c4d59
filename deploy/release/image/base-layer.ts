import type { DebianPackage } from './debian-package.ts';
import type { LayerFile, LayerFiles } from './layer.ts';

/** The user of the image, as in distroless images. */
export const nonroot = 65532;

// Programs, shell scripts, documentation except licences, character set converters (Node has its
// own), and login messages.
const leftOut =
  /^(?:usr\/)?s?bin\/|^usr\/share\/(?:man|lintian|locale|info|bug|base-files|gcc|gdb)\/|^usr\/share\/doc\/(?!.*\/copyright$)|\/gconv(?:\/|$)|^etc\/(?:update-motd\.d|profile\.d|skel|motd|issue)|^etc\/ca-certificates\/update\.d/;

const certificate = /^usr\/share\/ca-certificates\/.*\.crt$/;

/** The files of Debian packages that a program linked to the C and C++ libraries needs. */
export function baseLayer(packages: readonly DebianPackage[]): LayerFiles {
  const files = new Map<string, LayerFile>();
  for (const { control, files: own } of packages) {
    for (const [path, file] of own) {
      if (file.type !== 'Directory' && !leftOut.test(path)) files.set(path, file);
    }
    // Scanners read the packages of distroless images here.
    files.set(`var/lib/dpkg/status.d/${fieldOf(control, 'Package')}`, text(control));
  }
  for (const [path, file] of accounts) files.set(path, file);
  files.set('etc/ssl/certs/ca-certificates.crt', authorities(files));
  return files;
}

const accounts: LayerFiles = new Map([
  [
    'etc/passwd',
    text(
      `root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\nnonroot:x:${nonroot}:${nonroot}:nonroot:/home/nonroot:/sbin/nologin\n`,
    ),
  ],
  ['etc/group', text(`root:x:0:\nnobody:x:65534:\nnonroot:x:${nonroot}:\n`)],
  ['etc/nsswitch.conf', text('passwd: files\ngroup: files\nhosts: files dns\n')],
  ['tmp', { type: 'Directory', mode: 0o1777 }],
  ['home/nonroot', { type: 'Directory', mode: 0o755 }],
]);

/** The result of update-ca-certificates, which is a script that cannot run in the image. */
function authorities(files: LayerFiles): LayerFile {
  const paths = [...files.keys()].filter((path) => certificate.test(path)).sort();
  if (paths.length === 0) throw new Error('the Debian packages bring no certificates');
  const texts = paths.map((path) => Buffer.from(files.get(path)?.content ?? []).toString('utf8'));
  return text(texts.map((each) => `${each.trimEnd()}\n`).join(''));
}

function text(content: string): LayerFile {
  return { type: 'File', mode: 0o644, content: Buffer.from(content) };
}

/** A field of a control file. */
function fieldOf(control: string, name: string): string {
  const value = new RegExp(`^${name}: (.+)$`, 'm').exec(control)?.[1];
  if (value === undefined) throw new Error(`the control file of a Debian package has no ${name}`);
  return value;
}
