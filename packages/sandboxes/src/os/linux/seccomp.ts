/**
 * The system calls a sandboxed command may not make, as a program of the kernel's filter machine.
 *
 * It allows what it does not name: namespaces and the file system are the boundary, the filter takes away what has
 * often been a way through it. What is refused gives an error, it does not kill. `bwrap` installs it last.
 */

/** Numbers of the calls, for x86-64 and arm64; -1 where there is no such call. */
type Numbers = readonly [x64: number, arm64: number];

/** Fail with EPERM, whatever the arguments. */
const DENIED: Readonly<Record<string, Numbers>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  userfaultfd: [323, 282],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  syslog: [103, 116],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  iopl: [172, -1],
  ioperm: [173, -1],
  modify_ldt: [154, -1],
  uselib: [134, -1],
  ustat: [136, -1],
  sysfs: [139, -1],
  lookup_dcookie: [212, 18],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  vhangup: [153, 58],
};

/** Fail as if the kernel did not know them, so that programs take the older way, whose arguments can be looked at. */
const UNKNOWN: Readonly<Record<string, Numbers>> = {
  clone3: [435, 435],
  openat2: [437, 437],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
};

/** Files that would lend their owner's rights: the argument with the mode, and that with the flags where it counts only then. */
const MODES: readonly { readonly call: Numbers; readonly mode: number; readonly flags?: number }[] = [
  { call: [90, -1], mode: 1 },
  { call: [91, 52], mode: 1 },
  { call: [268, 53], mode: 2 },
  { call: [452, 452], mode: 2 },
  { call: [85, -1], mode: 1 },
  { call: [133, -1], mode: 1 },
  { call: [259, 33], mode: 2 },
  { call: [2, -1], mode: 2, flags: 1 },
  { call: [257, 56], mode: 3, flags: 2 },
];

const CLONE: Numbers = [56, 220];
const IOCTL: Numbers = [16, 29];
const SOCKET: Numbers = [41, 198];
const SOCKETPAIR: Numbers = [53, 199];

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
const SET_ID_BITS = 0o6000;
/** O_CREAT, and what tells O_TMPFILE. */
const CREATING = 0o100 | 0o20000000;
/** TIOCSTI and TIOCLINUX put words into a terminal's mouth. */
const TERMINAL_INPUT = [0x5412, 0x541c];
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const ARCHITECTURES: Readonly<Record<string, { readonly index: 0 | 1; readonly audit: number }>> = {
  x64: { index: 0, audit: 0xc000003e },
  arm64: { index: 1, audit: 0xc00000b7 },
};

/** Calls of the x32 interface have this bit. */
const X32 = 0x40000000;

type Instruction = readonly [code: number, yes: number, no: number, value: number];

const LOAD = 0x20;
const EQUAL = 0x15;
const ANY_BIT = 0x45;
const AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW: Instruction = [RETURN, 0, 0, 0x7fff0000];

/** Undefined where no filter can be made for the architecture. */
export function seccompFilter(architecture: string = process.arch): Uint8Array | undefined {
  const known = ARCHITECTURES[architecture];
  if (known === undefined) return undefined;
  const { index, audit } = known;
  const number = (numbers: Numbers): number => numbers[index];
  const program: Instruction[] = [
    [LOAD, 0, 0, 4],
    [EQUAL, 1, 0, audit],
    fail(ENOSYS),
    [LOAD, 0, 0, 0],
    ...(index === 0 ? ([[AT_LEAST, 0, 1, X32], fail(ENOSYS)] as const) : []),
    ...Object.values(DENIED).flatMap((call) => when(number(call), [fail(EPERM)])),
    ...Object.values(UNKNOWN).flatMap((call) => when(number(call), [fail(ENOSYS)])),
    ...when(number(CLONE), [load(0), [ANY_BIT, 0, 1, NEW_NAMESPACES], fail(EPERM), ALLOW]),
    ...when(number(IOCTL), [
      load(1),
      ...TERMINAL_INPUT.flatMap((request): Instruction[] => [[EQUAL, 0, 1, request], fail(EPERM)]),
      ALLOW,
    ]),
    ...when(number(SOCKET), families()),
    ...when(number(SOCKETPAIR), [load(0), [EQUAL, 1, 0, AF_UNIX], fail(EAFNOSUPPORT), ALLOW]),
    ...MODES.flatMap(({ call, mode, flags }) => when(number(call), withoutSetId(mode, flags))),
    ALLOW,
  ];
  return encode(program);
}

/** Internet sockets lead nowhere in a network of one's own; other families are not all kept apart by it. */
function families(): Instruction[] {
  return [
    load(0),
    [EQUAL, 5, 0, AF_UNIX],
    [EQUAL, 4, 0, AF_INET],
    [EQUAL, 3, 0, AF_INET6],
    [EQUAL, 0, 3, AF_NETLINK],
    load(2),
    [EQUAL, 0, 1, NETLINK_ROUTE],
    ALLOW,
    fail(EAFNOSUPPORT),
  ];
}

function withoutSetId(mode: number, flags: number | undefined): Instruction[] {
  const refuse: Instruction[] = [load(mode), [ANY_BIT, 0, 1, SET_ID_BITS], fail(EPERM), ALLOW];
  return flags === undefined ? refuse : [load(flags), [ANY_BIT, 1, 0, CREATING], ALLOW, ...refuse];
}

/** The lower half of an argument: the kernel looks at no more of those that are asked about. */
function load(argument: number): Instruction {
  return [LOAD, 0, 0, 16 + argument * 8];
}

function fail(error: number): Instruction {
  return [RETURN, 0, 0, 0x00050000 | error];
}

/** The body ends with a return, so the number of the call is still loaded after it. */
function when(call: number, body: readonly Instruction[]): readonly Instruction[] {
  return call < 0 ? [] : [[EQUAL, 0, body.length, call], ...body];
}

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  for (const [at, [code, yes, no, value]] of program.entries()) {
    bytes.setUint16(at * 8, code, true);
    bytes.setUint8(at * 8 + 2, yes);
    bytes.setUint8(at * 8 + 3, no);
    bytes.setUint32(at * 8 + 4, value >>> 0, true);
  }
  return new Uint8Array(bytes.buffer);
}
